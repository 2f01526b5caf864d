"""About whom a text tells something: the user, the agent or some person; in which language, and of what by name."""

import unicodedata
from collections import Counter
from collections.abc import Iterator

from om_api.language.words import word_set
from om_api.patterns.pattern import Pattern
from om_workers.trust.disguises import plain
from om_workers.trust.lists import lines_of
from om_workers.trust.reading import words_of

# "the user", but not "the user guide"
_USER = Pattern(
    r"\buser\b(?P<noun> (?:id|names?|agents?|interface|accounts?|table|count|guide|manual|stories|story|data)\b)?",
    ignore_case=True,
)
_ABOUT = Pattern(
    r"\b(?:my name is|call me|i(?:'m| am) (?:allergic|called|the owner|(?:the |an )?admin\w*)"
    r"|i (?:always |never |really )?(?:prefer|like|love|hate|want|need|live|work|agree|approve|authori[sz]e|consent)"
    r"|my (?:password|address|bank|account|iban|phone|e-?mail|wallet|preferred|favou?rite|birthday|boss|wife|husband)"
    r" (?:is|number is))\b"
    # notes leave out whom they tell of most, and keep who agreed
    r"|\A(?:always |never |also )?(?:prefers|wants|likes|loves|hates|wishes|authori[sz]es|approves|agrees|consents"
    r"|trusts|lives in)\b"
    r"|\bit (?:was|has been) (?:agreed|decided|settled|confirmed|promised) (?:that|to)\b"
    # what an agent is, and what it owes
    r"|\A(?:the )?(?:agent|assistant)(?:(?:'s|’s) (?:owner|name|boss|operator|principal|developer|creator|role|purpose)\b"
    r"| (?:is (?:called|named|owned|operated)|belongs|promised|agreed|committed|guaranteed|undertook|swore|(?:still )?owes)\b)",
    ignore_case=True,
)
_PEOPLE = Pattern("|".join(lines_of("people.txt")), ignore_case=True, behind=r"^|[^a-zà-ɏ]")
_SOMEBODY = Pattern(
    r"\b(?:the|this|your|our) (?:user|customer|client|buyer|person|human|caller|owner)s?\b", ignore_case=True
)
# a question that was asked claims nothing of him who asked
_ASKED = Pattern(r"\A(?:the )?user asked (?:whether|if|about|what|when|where|which|who|how|why)\b", ignore_case=True)
_NUMBERED = r"\b[\w-]*\d[\w.-]{3,}"
_NAME = Pattern(rf"[^\W\d_][\w'’-]*(?:[@._][\w-]+)+|(?P<capital>\b[A-ZÀ-ÞА-Я][\w-]{{2,}})|{_NUMBERED}")
_IN_FIRST = Pattern(rf"{_NUMBERED}|(?P<part>-[A-ZÀ-ÞА-Я][\w-]{{2,}})")  # names within the first word of a sentence
_NO_NAMES = word_set(
    """user agent assistant english german french spanish monday tuesday wednesday thursday friday saturday sunday january
    february march april june july august september october november december eur usd gbp"""
)
_LITTLE = {line.split()[0]: frozenset(line.split()[1:]) for line in lines_of("languages.txt")}
_WORDS = Pattern(r"[^\W\d_]+")
_ENDS = frozenset({". ", "! ", "? ", ": "})
_TELLING = 3  # words from which on the language of a text is known
_SAMPLE = 400  # characters of a text that tell its script


def tells_of_user(note: str) -> bool:
    """Whether a note claims something of the user, or of what the agent is and owes."""
    if _PEOPLE.search(note):
        return True
    of_user = any(found["noun"] is None for found in _USER.finditer(note)) or _ABOUT.search(note)
    return bool(of_user) and not _ASKED.match(note)


def tells_of_somebody(text: str) -> bool:
    """Whether a text tells something of a user, in any language that is known, or of the person who is spoken to."""
    return tells_of_user(text) or _SOMEBODY.search(text) is not None


def names(text: str) -> frozenset[str]:
    """The names in a text that no language changes, as they are compared: of people and firms, addresses, numbers of things."""
    found = _names(plain(text))
    return words_of(" ".join(each for each in found if each.lower() not in _NO_NAMES))


def _names(text: str) -> Iterator[str]:
    for found in _NAME.finditer(text):
        begins = not found.start() or text[max(0, found.start() - 2) : found.start()] in _ENDS
        if not (found["capital"] and begins):  # where a sentence begins, a capital letter is no sign of a name
            yield found[0]
            continue
        within = _IN_FIRST.search(found[0])
        if within:
            yield within[0].lstrip("-")


def language_of(text: str) -> str:
    """The language of a text by its little words, or the script it is written in; "" where neither tells."""
    shown = plain(text)
    if (script := _script(shown)) != "LATIN":
        return script
    words = [word.lower() for word in _WORDS.findall(shown)]
    shares = Counter({code: sum(word in known for word in words) for code, known in _LITTLE.items()})
    (best, most), (_, next_most) = shares.most_common(2)
    return best if len(words) >= _TELLING and most > next_most else ""


def _script(text: str) -> str:
    letters = [each for each in text[:_SAMPLE] if each.isalpha()]
    found = Counter("LATIN" if each.isascii() else unicodedata.name(each, "?").split(" ")[0] for each in letters)
    return found.most_common(1)[0][0] if found else ""
