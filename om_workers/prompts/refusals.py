"""How models decline, and how they speak of their task instead of the messages, in the languages that models mostly write."""

from collections.abc import Set as AbstractSet
from itertools import pairwise

from om_api.domain.texts.normal_forms import normalize
from om_api.language.words import bare_words, stem, word_list, word_set
from om_api.patterns.pattern import Pattern
from om_api.recall.stemming import fold
from om_api.recall.wording import is_unparted, pieces, words_of

_QUOTED = 100  # characters
_LOOKED_AT = 300  # characters of a line in which a refusal is looked for
_SORRY = (
    r"(?:i['’]m|i am|we['’]re|we are) (?:(?:very|so|really|truly) )?sorry|sorry|(?:my )?apologies|i apologi[sz]e|i regret"
    r"|unfortunately|as (?:an? )?(?:large )?(?:ai|language model)\b[^,.\n]{0,40}"
)
_CANNOT = (
    r"(?:can(?:['’]?t| ?not)|could(?:n['’]t| not)|won['’]t|will not|(?:am|['’]m) (?:not able|unable) to"
    r"|(?:must|have to) (?:decline|refuse)(?: to)?|(?:am not|['’]m not|do not feel|don['’]t feel) comfortable"
    r"|(?:decline|refuse) to)"
)
_WHAT = (
    r"(?: (?:help|assist|comply|fulfil+|do (?:that|this|so)|provide|process|answer|respond|reply|continue|complete"
    r"|summari[sz]e|take notes|note|observe|condense|write|generate|create|produce|engage|discuss|share|access"
    r"|perform|carry out|support|with))"
)
_ELSEWHERE = (
    r"(?:es )?tut mir (?:sehr )?leid|je suis (?:vraiment )?désolée?|lo siento|mi dispiace|(?:sinto|lamento) muito|het spijt me"
    r"|przykro mi|извините|申し訳(?:ありません|ございません)|很?抱歉|对不起|對不起|죄송합니다"
)
_REFUSAL = Pattern(
    rf"(?:(?:{_SORRY})[\s,.!:;–—-]{{0,3}}(?:but |however,? )?)?(?:i|we) ?{_CANNOT}{_WHAT}\b|(?:{_ELSEWHERE})\b",
    ignore_case=True,
)

# words about the task; in languages without blanks, parts of words
_TASK = word_set(
    """able unable afraid ai aid allowed answer apologies apologize assist assistance available beyond capabilities capable
    comply content conversation decline declined details error facts fulfil fulfilled guidelines help helpful information
    instructions language limitation message messages model news note noted notes noteworthy notable observation
    observations observed outside permitted policies policy privacy process prompt provide record recorded refrain refuse
    regret regrettably relevant request requested respond response scope skipped sorry summarize summarized text
    unavailable unfortunately updates withheld access

    anfrage angaben auskunft beantworten bearbeiten behilflich beobachtung beobachtungen fakten helfen hilfe hinweise
    informationen ki leider neuigkeiten notieren notizen sprachmodell ki-sprachmodell
    accès aide aider demande désolé données faits fourni fournir ia informations langage malheureusement modèle
    nouveauté observations renseignement répondre traiter
    acceso ayuda ayudar ayudarte datos hechos información lamentablemente lamento lenguaje modelo novedad novedades observaciones
    procesar proporcionar proporcionó responder siento solicitud
    ajudar dados infelizmente informação informações linguagem novidades observação observações
    aiutare aiutarti dati informazioni linguaggio novità osservazione osservazioni purtroppo richiesta
    helaas helpen hulp informatie observaties taalmodel verzoek waarneming waarnemingen
    tyvärr hjälpa observationer uppgifter desværre hjælpe oplysninger dessverre hjelpe observasjoner opplysninger
    informacje informacji niestety obserwacja obserwacji pomóc faktów
    valitettavasti auttaa havaintoja tietoa tietoja üzgünüm maalesef yardımcı bilgi gözlem
    извините информации информация наблюдений наблюдения помочь сожалению фактов вибачте допомогти інформації жаль
    أعتذر المساعدة عذرا مساعدة مساعدتك معلومات ملاحظات מידע לעזור מצטער תצפיות"""
)
_SHORT = 5  # letters: such words count only whole, since the stem of `notes` is `not`
_TASK_STEMS = frozenset(word if len(word) <= _SHORT else stem(word) for word in map(fold, _TASK))
_TASK_PARTS = tuple(
    word_list(
        """信息 資訊 内容 協助 协助 回答 处理 處理 帮助 幫助 建议 建議 抱歉 提供 观察 觀察 记录
        お答え お手伝 観察 記録 情報 対応 申し訳 관찰 기록 답변 도와 도움 정보 제공 죄송"""
    )
)
_NEW = "nothing new"
_TASK_TERMS = _TASK_STEMS.union(_TASK_PARTS, (_NEW,))
_NOTHING_NEW = Pattern(
    r"\b(?:nothing|nichts|rien|nada|niente|niets|inget|intet|ingenting|nic|ничего|нічого)(?: (?:de|di|wirklich|really))? "
    r"(?:new|neues|nouveau|nuevo|novo|nuovo|nieuws|nytt|nyt|nowego|нового)\b",
    ignore_case=True,
)
_NO = word_set(
    """cannot decline declined neither never no none nor not nothing refuse unable unavailable without beyond outside
    kein keine keinen keiner keinem keines nicht nichts ohne aucun aucune ne n pas rien sans ningún ninguna ninguno nada no sin
    não nenhum nenhuma sem nessun nessuna nessuno niente non senza geen niet niets inga ingen inget inte ikke intet brak nie
    bez ei eivät değil yok без не нельзя нет ничего немає لا لم ليس لن אין לא"""
)
_NO_PART = Pattern(
    r"n['’]t\b|\bn['’]|[不没沒無无未]|ません|ない|なし|できかね|없|않|못|\w(?:amam|emem|amıyorum|emiyorum)\b"
)
_VERB = (
    "am|can|can['’]?t|cannot|could|couldn['’]t|do|don['’]t|did|didn['’]t|have|haven['’]t|may|must|need|should|will|won['’]t"
    "|would|wouldn['’]t|apologi[sz]e|decline|refuse|regret"
)
_SELF = Pattern(
    rf"\b(?:I|[Ww]e)(?:['’](?:m|d|ve|ll|re)\b| (?:{_VERB})\b)|\b(?:can|could|may|shall) I\b|\b[Ll]et me know\b"
    r"|\b[Aa]s an? (?:large |AI)|\b[Jj]['’]"
    r"|\b(?:[Ii]ch|[Ww]ir|[Jj]e|[Ii]k|[Jj]ag|[Jj]eg|[Pp]uedo|[Tt]engo|[Pp]odemos|[Pp]osso|[Pp]ossiamo|[Mm]ogę|[Mm]ożemy)\b"
    r"|\bme es posible\b|\b(?:[Яя]|[Мм]ы|[Мм]огу|[Мм]ожем|[Мм]ожу)\b|\w(?:amam|emem|amıyorum|emiyorum)\b"
    r"|يمكنني|أستطيع|\bאני\b|我|本模型|私|お(?:手伝い|答え)でき|できかね|저는|제가|드릴 수 없"
)
_REPORTED = Pattern(
    r"[\W_]*(?:(?:the|der|die|das|el|la|il|o|a|de|den) |l['’])?(?:user|agent|assistant|nutzer|benutzer|assistent|utilisateur"
    r"|usuari|utente|gebruiker|användare|bruger|bruker|użytkownik|пользовател|користувач|kullanıcı|المستخدم|משתמש|המשתמש"
    r"|用户|用戶|ユーザー|사용자)|[^:：\"“„«]{0,100}[:：\"“„«]",
    ignore_case=True,
)


def refusal(text: str) -> str:
    """The set phrase with which a text declines, at most 100 characters; "" if it does not begin with one."""
    found = _REFUSAL.match(text.lstrip()[:_LOOKED_AT].lstrip("\"'“”*_ "))
    return found[0][:_QUOTED] if found else ""


def task_words(text: str) -> frozenset[str]:
    """The words of a text about the task of taking notes: stems, or parts in scripts without blanks."""
    found = {_NEW} if _NOTHING_NEW.search(text) else set[str]()
    for word in dict.fromkeys(words_of(normalize("NFKC", text))):
        if is_unparted(word):
            found.update(part for part in _TASK_PARTS if part in word)
        else:
            found.update(word if len(word) <= _SHORT else stem(word) for word in map(fold, pieces(word)))
    return frozenset(found & _TASK_TERMS)


def denies(line: str) -> bool:
    """Whether a line holds a negation."""
    return not _NO.isdisjoint(bare_words(line)) or _NO_PART.search(line) is not None


def speaks_of_itself(line: str) -> bool:
    """Whether a line says "I" or "we" in its writer's own voice: it neither begins with who said it, nor quotes."""
    found = _SELF.search(line)
    reported = _REPORTED.match(line)
    return found is not None and not (reported and reported.end() <= found.start())


def neighbours(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of words, and of characters in scripts without blanks, that stand side by side in a text."""
    words = bare_words(text)
    runs = (each for word in words if is_unparted(word) for each in pairwise(word))
    return frozenset((*pairwise(words), *runs))


def is_copied(line: str, source: AbstractSet[tuple[str, str]]) -> bool:
    """Whether at least half of a line's neighbours, and some around its negations, are neighbours in its source."""
    found = neighbours(line)
    denying = {pair for pair in found if denies(" ".join(pair))}
    denied = not denying or not denying.isdisjoint(source)
    return denied and 2 * len(found & source) >= len(found) > 0
