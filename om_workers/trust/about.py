"""About whom a text tells something: the user, the agent or some person; in which language, and of what by name."""

import re
import unicodedata
from collections import Counter

from om_api.language.words import word_set
from om_workers.trust.disguises import plain
from om_workers.trust.lists import lines_of
from om_workers.trust.reading import words_of

_ABOUT = re.compile(
    r"\b(?:the )?user(?:'s|’s)?\b"
    r"(?! (?:id|name|names|agent|agents|interface|account|accounts|table|count|guide|manual|stories|story|data)\b)"
    r"|\b(?:my name is|call me|i(?:'m| am) (?:allergic|called|the owner|(?:the |an )?admin\w*)"
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
    re.IGNORECASE,
)
_PEOPLE = re.compile(rf"(?<![a-zà-ɏ])(?:{'|'.join(lines_of('people.txt'))})", re.IGNORECASE)
_SOMEBODY = re.compile(
    r"\b(?:the|this|your|our) (?:user|customer|client|buyer|person|human|caller|owner)s?\b", re.IGNORECASE
)
# a question that was asked claims nothing of him who asked
_ASKED = re.compile(r"\A(?:the )?user asked (?:whether|if|about|what|when|where|which|who|how|why)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_][\w'’-]*(?:[@._][\w-]+)+|(?<![.!?:] )(?<!^)\b[A-ZÀ-ÞА-Я][\w-]{2,}|\b[\w-]*\d[\w.-]{3,}")
_NO_NAMES = word_set(
    """user agent assistant english german french spanish monday tuesday wednesday thursday friday saturday sunday january
    february march april june july august september october november december eur usd gbp"""
)
_LITTLE = {line.split()[0]: frozenset(line.split()[1:]) for line in lines_of("languages.txt")}
_WORDS = re.compile(r"[^\W\d_]+")
_TELLING = 3  # words from which on the language of a text is known
_SAMPLE = 400  # characters of a text that tell its script


def tells_of_user(note: str) -> bool:
    """Whether a note claims something of the user, or of what the agent is and owes."""
    return (_ABOUT.search(note) is not None and not _ASKED.match(note)) or _PEOPLE.search(note) is not None


def tells_of_somebody(text: str) -> bool:
    """Whether a text tells something of a user, in any language that is known, or of the person who is spoken to."""
    return tells_of_user(text) or _SOMEBODY.search(text) is not None


def names(text: str) -> frozenset[str]:
    """The names in a text that no language changes, as they are compared: of people and firms, addresses, numbers of things."""
    found = (each.group() for each in _NAME.finditer(plain(text)))
    return words_of(" ".join(each for each in found if each.lower() not in _NO_NAMES))


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
