"""Shorter texts: without the fillers it begins with, cut where a clause ends, or in telegraphic style."""

import re
from typing import Literal

from om_api.language.calendar import SHORT_MONTHS
from om_api.language.words import FUNCTION_WORDS, told_by_case, word_set

NoteStyle = Literal["sentences", "terse"]
_LEAD = re.compile(
    r"(?:[-*•] +|(?:oh|ah|hm+|um+|uh|ugh|haha|lol|hey|hi|hello|ok|okay|btw|by the way|and)\b(?![-'’])[\s,!.:;-]+"
    r"|(?:well|so|also|anyway|alright|cool|great|thanks|morning|good morning|quick one|one more thing)\s*[,!.:;]\s*)+",
    re.IGNORECASE,
)
_FILLERS = (
    "really", "basically", "actually", "very", "quite", "please", "pls", "kind of", "sort of", "you know", "i mean",
    "honestly", "literally", "btw", "by the way", "of course", "simply",
)  # fmt: skip
_ANY_FILLER = rf"\b(?:{'|'.join(_FILLERS)})\b"
_AS_MATCHED = str.maketrans("İıſ", "iis")  # what a pattern takes for i and s, and lower() does not
_FILLER = re.compile(rf"\s*{_ANY_FILLER}(?=[,;.!?]|$)|{_ANY_FILLER}\s+", re.IGNORECASE)
_ORNAMENT = re.compile(r"(?<!\w)[^\w\s$€£#@~/+%\"'“”‘’(\[{<)\]}>-]+|[!…]+|[.,;](?=\s)|(?<=\s)[-–—]+(?=\s)")
_LITTLE_WORD = re.compile(
    r"\b(?:instead|rather|never|not|only|except|half|round(?:ed|ing|s)?)\s+(?:as|at|by|for|from|in|of|on|than|to|up|with)\b|"
    r"(?<![-./@'’_])\b[A-Za-z]+(?:['’][a-z]{1,2})?\b(?![-./@_]\w)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:)]?\s+(?=[-–—(])|[,;:](?=\s)")
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


def without_lead(text: str) -> str:
    """The text without the greetings and fillers that it begins with; a yes and a no are none. All else stays as it is."""
    lead = _LEAD.match(text)
    return (text[lead.end() :] if lead else text) or text


def telegraphic(text: str) -> str:
    """The text without greetings, fillers and all words that carry nothing; code is left as it is.

    Negations, numbers, and words that order or bound (before, until, from, only) always stay, and so does what only looks
    like a little word: May, US, IT, AM. A text of which nothing would stay is left as it is.
    """
    if "`" in text:
        return text
    short = _LITTLE_WORD.sub(_unless_little, _without_fillers(without_lead(text)))
    return one_line(_ORNAMENT.sub(" ", short)).strip(" ,;") or text


def _without_fillers(text: str) -> str:
    lower = (text if text.isascii() else text.translate(_AS_MATCHED)).lower()
    # few texts have one, and it takes long to look for them all in every place
    return _FILLER.sub("", text) if any(filler in lower for filler in _FILLERS) else text


def _unless_little(found: re.Match[str]) -> str:
    word = found[0].lower().replace("’", "'")
    if (
        word not in _LITTLE
        or told_by_case(found.string, found.start())
        or (word in _BINDING and _BOUND.match(found.string, found.end()))
    ):
        return found[0]
    return ""


def clip(text: str, size: int) -> str:
    """The text in at most `size` characters: cut where a clause ends, else between words, where it can be."""
    if len(text) <= size:
        return text
    head = text[: max(size - 3, 1)]
    ends = [found.start() for found in _CLAUSE_END.finditer(head, size // 2)]
    return (head[: ends[-1]] if ends else head.rpartition(" ")[0] or head) + "..."
