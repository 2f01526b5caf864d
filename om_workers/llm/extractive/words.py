"""Words as the extractor counts them: what carries meaning, what is filler, how many tokens a text is worth."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+(?:[-./:@'’_,]\w+)*%?")
_LEAD = re.compile(
    r"(?:(?:well|so|ok|okay|oh|ah|hm+|um+|uh|hey|hi|hello|also|anyway|yeah|yep|yup|right|alright|cool|great|sure|ugh"
    r"|haha|lol|thanks|morning|good morning|quick one|one more thing|btw|by the way|and|but)\b(?![-'’])[\s,!.:;-]+)+",
    re.IGNORECASE,
)
_FILLERS = (
    r"\b(?:really|basically|actually|very|quite|please|pls|kind of|sort of|you know|i mean|honestly|literally"
    r"|btw|by the way|of course|simply)\b"
)
_FILLER = re.compile(rf"\s*{_FILLERS}(?=[,;.!?]|$)|{_FILLERS}\s+", re.IGNORECASE)
_STOP_WORD = re.compile(
    r"\b(?:an?|the|is|are|was|were|be|been|being|am|of|that|there|it|its|also|just|some|such|as"
    r"|these|those)\b(?![-./:@'’])\s*",
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


def tokens(text: str) -> int:
    """Tokens a text is worth, at four characters each, rounded up."""
    return (len(text) + 3) // 4


def words(text: str) -> list[str]:
    """The words of a text in lower case; identifiers, paths, numbers and times stay whole."""
    return _WORD.findall(text.lower())


def one_line(text: str) -> str:
    """The text with every run of white space, line ends of any alphabet included, as a single blank."""
    return " ".join(text.split())


def telegraphic(text: str, level: int = 0) -> str:
    """The text without greetings and fillers; from level 2 on without articles and auxiliaries either.

    Quoted text and code are left as they are, and so is a text of which nothing would stay.
    """
    if '"' in text or "`" in text:
        return text
    short = _FILLER.sub("", text[lead.end() :] if (lead := _LEAD.match(text)) else text)
    if level > 1:
        short = _STOP_WORD.sub("", short)
    return short.strip(" ,;") or text


def clip(text: str, size: int) -> str:
    """The text in at most `size` characters, cut between words where it can be."""
    if len(text) <= size:
        return text
    head = text[: max(size - 3, 1)]
    return (head.rpartition(" ")[0] or head) + "..."
