"""Words as the extractor counts them: what carries meaning, what is filler, how many tokens a text is worth."""

from __future__ import annotations

import re

from om_api.tokens import counter

_COUNT = counter()
_WORD = re.compile(r"\w+(?:[-./:@'’_,]\w+)*%?")
_PIECE = re.compile(r"['’]?[A-Za-z]{1,12}|\d{1,3}|[^\sA-Za-z0-9]")
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
_PICTURE = re.compile("[\U00010000-\U0010ffff]")  # two tokens each
_ORNAMENT = re.compile(r"(?<!\w)[^\w\s$€£#@~/+%\"'“”‘’(\[{<)\]}>-]+|[!…]+|[.,;](?=\s)|(?<=\s)[-–—]+(?=\s)")
_LITTLE_WORD = re.compile(
    r"\b(?:instead|rather|never|not|only|except|half|round(?:ed|ing|s)?)\s+(?:as|at|by|for|from|in|of|on|than|to|up|with)\b|"
    r"(?<![-./@'’_])\b[A-Za-z]+(?:['’][a-z]{1,2})?\b(?![-./@_]\w)",
    re.IGNORECASE,
)


def word_set(text: str) -> frozenset[str]:
    """The words of a text, parted by white space, as a set: how our word lists are written."""
    return frozenset(text.split())


STOP = word_set(
    """a about above after again all also am an and any are aren't around as at be because been before being below
    between both but by can can't come could couldn't did didn't do does doesn't doing don't down during each
    even every few for from get getting go going good got had has have haven't he her here hers him his how i
    i'd i'll i'm i've if in into is isn't it it's its itself know let let's like ll look made make many may me
    might more most much must my near no nor not now of off on one only or other our out over own please put re
    really right s said same say see seems she should so some still such sure take than that that's the their
    them then there there's these they thing things think this those though through to too under until up us use
    used using ve very want was wasn't way we we'd we'll we're we've well were what what's when where which
    while who why will with without won't would yes yet you you'd you'll you're you've your"""
)
_BINDING = word_set("at by for from in of on the to")
_BOUND = re.compile(
    r"\s+(?:the\s+)?(?:\d|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b|(?:jan|feb|mar|apr|may|june?|july?"
    r"|aug|sept?|oct|nov|dec)[a-z]{0,6}\b)",
    re.IGNORECASE,
)
CHATTER = word_set(
    """agreed ah aha alright amazing awesome back bet big bless brb brilliant bye bye-bye cheers ciao cool cute
    danke day deal enjoy evening exactly excellent fair fantastic fine friday friend fun funny glad gladly
    goodbye gotcha gracias great guess haha hahaha happy heh hehe hello help hey hi hm hmm hmmm hooray hope huh
    later lol lovely luck lunch mate merci monday morning nah neat nice night noted oh ok okay ooh oops ouch
    perfect phew pleasure point points problem quick right safe saturday see sigh soon sounds sorry stuff sunday super
    sweet talk thank thanks thursday thx till time today tomorrow travels true tuesday ty ugh uh understandable
    understood wednesday weekend welcome welp wonderful work worries wow xd yay yeah yep yes yess yesss yikes yo
    yup"""
)


_LITTLE = word_set(
    """a about also am an and any are as at be because been being but by can could did do does doing each even ever
    for get gets getting give go goes going gonna got had has have having he her here hers herself him himself his how i
    if in into is it its itself just keep know like look lot lots made make makes making many may me might mine much my
    myself of on or our ours ourselves out own really say says see seem seems she should so some something still
    such take than that the their theirs them themselves then there these they thing things think this those though
    through to too up us use very want was way we well were what when where which while who whom whose why will with
    would you your yours yourself i'm i've i'll i'd you're you've you'll you'd he's she's it's we're we've we'll we'd
    they're they've they'll that's there's here's what's let's who's where's how's absolutely amazing awesome
    definitely feel feeling feels glad good great happy hear hope huge incredible kind maybe nice pretty super sure
    totally truly wonderful wow yeah yes"""
)


def tokens(text: str) -> int:
    """About how many tokens a text is worth: one for a word of up to twelve letters, three digits, or another sign.

    Fitted to o200k_base on English talk, with articles and without; a text of few blanks counts as its characters do.
    """
    return len(_PIECE.findall(text)) + len(_PICTURE.findall(text))


def counted(text: str) -> int:
    """The tokens of a text as recent models count them, where their vocabulary is at hand."""
    return _COUNT(text)


def words(text: str) -> list[str]:
    """The words of a text in lower case; identifiers, paths, numbers and times stay whole."""
    return _WORD.findall(text.lower())


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
