"""Terms: the words of a sentence in any script, and which sentences are small talk."""

from collections.abc import Collection

from om_api.language.words import CHATTER, STOP, words
from om_api.patterns.pattern import Pattern
from om_api.recall.stemming import fold
from om_api.recall.wording import is_unparted, pieces, words_of

_LONGEST = 16  # terms of small talk
# letters beyond the Latin ones: no cue in English words shows there what a sentence tells
_BEYOND_LATIN = Pattern("[\u0370-\u1dff\u2c00-\ud7ff\uf900-\ufdff\ufe70-\ufeff\uff66-\uffdc\U00020000-\U0003ffff]")


def _folded(text: str) -> frozenset[str]:
    return frozenset(map(fold, text.split()))


_GREETINGS = _folded(
    """hello hi hey hallo bonjour salut hola ciao olá oi hej cześć ahoj привет здравствуйте здравствуй вітаю γεια
    καλημέρα שלום مرحبا أهلا سلام नमस्ते नमस्कार 你好 您好 大家好 嗨 こんにちは 안녕하세요 안녕 สวัสดี"""
)
_SMALL_TALK = (CHATTER | STOP | _GREETINGS) | _folded(
    """ja nein gut genau klar danke bitte passt alles gern gerne bis morgen klingt super
    lgtm ahead continue proceed sense sounds oui d'accord bien merci ça marche sí vale gracias perfecto va bene
    grazie certo sim obrigado obrigada tak dobrze dzięki да нет хорошо понял поняла понятно спасибо ладно конечно отлично
    доброе утро ясно ναι όχι ευχαριστώ εντάξει כן לא תודה בסדר نعم لا حسنا تم شكرا طيب تمام وسهلا بالتأكيد عليكم السلام
    صباح الخير مساء بخير हाँ हां नहीं ठीक है धन्यवाद शुक्रिया अच्छा जी बिल्कुल"""
)
# runs of scripts without blanks: pieces of small talk, or a greeting with the name of the one who is greeted
_SMALL_RUN = Pattern(
    "(?:好|好的|好吧|明白|明白了|了解|知道了|收到|没问题|没事|是|是的|对|对的|嗯|行|可以|谢谢|谢谢你|感谢|多谢|不客气|再见|早|早上好|晚安"
    "|祝[你您].{1,8}|我|会|记住|记下|记住了|记下了|的|了|啊|呢|吧|哦|您|你|はい|いいえ|ええ|うん|わかりました|分かりました|了解です|承知しました|なるほど"
    "|ありがとう|ございます|どうも|おはよう|こんばんは|おやすみ|なさい|です|ね|よ|네|예|아니요|알겠습니다|알겠어요|감사합니다|고마워요|좋아요|그래요"
    "|ครับ|ค่ะ|คะ|นะ|ใช่|ไม่|โอเค|ได้|เข้าใจ|แล้ว|ขอบคุณ|ดี|รับทราบ)+"
    "|(?:你好|您好|大家好|嗨|こんにちは|안녕하세요|안녕|สวัสดี|สวัสดีครับ|สวัสดีค่ะ|หวัดดี).{0,4}"
)


def terms(text: str) -> list[str]:
    """The words of a text in lower case; runs of scripts without blanks, and of Hangul, as pairs of characters."""
    if not is_beyond_latin(text):
        return words(text)
    found = list[str]()
    for word in words_of(text):
        if is_unparted(word):
            found += pieces(word)
        elif word[0].isalnum():  # no emoji
            found.append(word.lower())
    return found


def is_beyond_latin(text: str) -> bool:
    """Whether a text holds letters of another script than Latin."""
    return not text.isascii() and _BEYOND_LATIN.search(text) is not None


def is_small_talk(text: str, found: Collection[str]) -> bool:
    """Whether a sentence, of which the terms are given, is a greeting, thanks or a mere reaction."""
    if all(word in CHATTER or word in STOP for word in found):
        return True
    if len(found) > _LONGEST:
        return False
    said = [fold(run.casefold()) for run in words_of(text) if run[0].isalnum()]
    rest = [word for word in said if not (word in _SMALL_TALK or _SMALL_RUN.fullmatch(word))]
    greeted = len(rest) == 1 and said[0] in _GREETINGS and not any(map(str.isdigit, text))
    return not rest or greeted
