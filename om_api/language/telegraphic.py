"""Telegraphic style: a text with fewer words that says the same."""

import re

from om_api.language.calendar import SHORT_MONTHS
from om_api.language.words import FUNCTION_WORDS, word_set

_LEAD = re.compile(
    r"(?:(?:well|so|ok|okay|oh|ah|hm+|um+|uh|hey|hi|hello|also|anyway|yeah|yep|yup|right|alright|cool|great|sure|ugh"
    r"|haha|lol|thanks|morning|good morning|quick one|one more thing|btw|by the way|and|but)\b(?![-'’])[\s,!.:;-]+)+",
    re.IGNORECASE,
)
_FILLERS = (
    "really", "basically", "actually", "very", "quite", "please", "pls", "kind of", "sort of", "you know", "i mean",
    "honestly", "literally", "btw", "by the way", "of course", "simply",
)  # fmt: skip
_ANY_FILLER = rf"\b(?:{'|'.join(_FILLERS)})\b"
_AS_MATCHED = str.maketrans("İıſ", "iis")  # what a pattern takes for i and s, and lower() does not
_FILLER = re.compile(rf"\s*{_ANY_FILLER}(?=[,;.!?]|$)|{_ANY_FILLER}\s+", re.IGNORECASE)
_STOP_WORD = re.compile(
    r"\b(?:an?|the|is|are|was|were|be|been|being|am|of|that|there|it|its|also|just|some|such|as"
    r"|these|those)\b(?![-./:@'’])\s*",
    re.IGNORECASE,
)
_CARRYING = 3  # the level of telegraphic style from which only words that carry something stay
_ORNAMENT = re.compile(r"(?<!\w)[^\w\s$€£#@~/+%\"'“”‘’(\[{<)\]}>-]+|[!…]+|[.,;](?=\s)|(?<=\s)[-–—]+(?=\s)")
_LITTLE_WORD = re.compile(
    r"\b(?:instead|rather|never|not|only|except|half|round(?:ed|ing|s)?)\s+(?:as|at|by|for|from|in|of|on|than|to|up|with)\b|"
    r"(?<![-./@'’_])\b[A-Za-z]+(?:['’][a-z]{1,2})?\b(?![-./@_]\w)",
    re.IGNORECASE,
)
_BINDING = word_set("at by for from in of on the to")
_BOUND = re.compile(
    r"\s+(?:the\s+)?(?:\d|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b|"
    rf"(?:{'|'.join(SHORT_MONTHS)}|june|july|sept)[a-z]{{0,6}}\b)",
    re.IGNORECASE,
)
_LITTLE = FUNCTION_WORDS | word_set(
    """absolutely amazing awesome because definitely even ever feel feeling feels get gets getting give glad go goes
    going gonna good got great happy having he's hear here's hers herself himself hope how's huge i'd i'll i'm i've
    incredible it's itself just keep kind know let's like look lot lots made make makes making many maybe mine much
    myself nice ours ourselves pretty really say says see seem seems she's something still super sure take that's theirs
    themselves there's they'll they're they've thing things think though through totally truly use want way we'd we'll
    we're we've well what's where's who's whom whose wonderful wow yeah yes you'd you'll you're you've yours yourself"""
)


def one_line(text: str) -> str:
    """The text with every run of white space, line ends of any alphabet included, as a single blank."""
    return " ".join(text.split())


def telegraphic(text: str, level: int = 0) -> str:
    """The text without greetings and fillers; from level 2 on without articles and auxiliaries, at 3 only what carries it.

    Quoted text and code are left as they are up to level 2, and so is a text of which nothing would stay. Negations,
    numbers, and words that order or bound (before, until, from, only) always stay.
    """
    if "`" in text or ('"' in text and level < _CARRYING):
        return text
    short = _without_fillers(text[lead.end() :] if (lead := _LEAD.match(text)) else text)
    if level == _CARRYING - 1:
        short = _STOP_WORD.sub("", short)
    elif level >= _CARRYING:
        short = one_line(_ORNAMENT.sub(" ", _LITTLE_WORD.sub(_unless_little, short)))
    return short.strip(" ,;") or text


def _without_fillers(text: str) -> str:
    lower = (text if text.isascii() else text.translate(_AS_MATCHED)).lower()
    # few texts have one, and it takes long to look for them all in every place
    return _FILLER.sub("", text) if any(filler in lower for filler in _FILLERS) else text


def _unless_little(found: re.Match[str]) -> str:
    word = found[0].lower().replace("’", "'")
    if word not in _LITTLE or (word in _BINDING and _BOUND.match(found.string, found.end())):
        return found[0]
    return ""


def clip(text: str, size: int) -> str:
    """The text in at most `size` characters, cut between words where it can be."""
    if len(text) <= size:
        return text
    head = text[: max(size - 3, 1)]
    return (head.rpartition(" ")[0] or head) + "..."
