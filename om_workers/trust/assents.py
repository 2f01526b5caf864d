"""Assents: what an agent proposes becomes the user's own words once he says yes to it, or chooses of it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from om_api.patterns.pattern import Pattern
from om_workers.trust.about import tells_of_somebody
from om_workers.trust.looks import Look, look_of
from om_workers.trust.reading import sentences
from om_workers.trust.sayings import Saying

_SHORT = 8  # words of an answer
_BRIEF = 60  # and its characters
_YES = Pattern(
    r"\s*(?:yes|yeah|yep|yup|sure|ok(?:ay)?|please do|go ahead|do (?:it|that|so)|book it|exactly|right|correct|agreed"
    r"|absolutely|of course|sounds good|perfect|ja|gerne?|genau|klar|passt|oui|d'accord|sí|si|claro|vale|sim|certo"
    r"|va bene|tak|да|давай|хорошо|はい|お願いします|是|好|好的|可以|네|예|evet|हाँ|نعم)"
    r"\s*(?:[,.;:!，。！、…-]|$|\b(?:please|do|go|that|it|thanks|book|take|bitte|danke|merci|gracias|por favor|grazie)\b)",
    ignore_case=True,
)
_NO = Pattern(
    r"\b(?:no|nope|not|don't|never|stop|neither|none|nein|nicht|kein\w*|non|pas|nunca|não|nie|nee|niet|нет|не)\b|いいえ|不|아니",
    ignore_case=True,
)


def assented(said: Sequence[Saying]) -> Iterator[Saying]:
    """What the user made his own: of the turn that he answers, questions to which he says yes, and what he may choose of.

    Of what a tool shows him he may only say yes to what it says of the world.
    """
    for before, answer in pairwise(said):
        if answer.source == "the user" and answer.own and not before.own and not before.pasted:
            yes = _YES.match(answer.text) is not None
            if text := " ".join(_taken(before, answer.text, yes=yes)):
                yield answer._replace(text=text)


def _taken(before: Saying, answer: str, *, yes: bool) -> Iterator[str]:
    chosen = before.trusted and len(answer.split()) <= _SHORT and len(answer) <= _BRIEF and not _NO.search(answer)
    for text in sentences(before.text) if yes or chosen else ():
        look = look_of(text)
        if text.rstrip().endswith(("?", "？")):
            taken = yes and before.trusted and look is not Look.ORDERS
        else:
            taken = look is Look.SAYS and not tells_of_somebody(text)
        if taken:
            yield text
