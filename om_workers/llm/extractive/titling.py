"""A title without a model: what a user asked for last, or told of, in a few words."""

import re
from collections.abc import Sequence
from typing import Any

from om_api.domain.kept.extractors import Extractor
from om_api.domain.kept.titles import LEAST
from om_api.language.calendar import LocalTime
from om_api.language.telegraphic import clip, without_lead
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.units import Unit

_LONGEST = 60
_ASKING = re.compile(
    r"(?:(?:can|could|would|will) (?:you|we)|(?:i|we)(?:'d| would)? (?:want|need|like|have)(?: you)? to|help me(?: to)?|please|"
    r"let's|tell me|show me|do you know|i'm (?:trying|going|about) to|i am (?:trying|going|about) to|"
    r"how (?:do|can|should) (?:i|we)|what (?:is|are|was)|what's)\b[\s,]*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:for what it's worth|by the way|to be honest|in short|i (?:guess|think|believe|suppose|know)(?: that)?|"
    r"(?:i|we)(?:'ve| have)?(?= (?:decided|agreed|moved|started|found|got))|that|and|but|so|well)\b[\s,]*",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:[;:,\u2026]| \(| (?:because|since|although|so that|which|while)\b).*", re.DOTALL | re.IGNORECASE
)
_LEAST_CLAUSE = 15  # characters
_TOPIC = 2  # words that say something


def title(found: Sequence[Unit], _so_far: Any, _clock: LocalTime, _extractor: Extractor) -> str:
    """A short phrase of the newest request of a user, else of the newest topic; "" where neither says enough."""
    own = [each for each in found if each.role == "user" and not each.pasted and len(each.content) >= _TOPIC]
    asked = [each for each in own if cues.asked(each.text, each.words)]
    for unit in reversed(asked or own):
        text = without_lead(unit.text)
        while (lead := _ASKING.match(text) or _OPENING.match(text)) and lead.end() < len(text):
            text = text[lead.end() :]
        if (reason := _REASON.search(text, _LEAST_CLAUSE)) and reason.start() < len(text):
            text = text[: reason.start()]
        short = clip(text.rstrip(" .!?,;:"), _LONGEST).removesuffix("...").rstrip(" .,;:")
        if len(short) >= LEAST and "<" not in short:
            return short[0].upper() + short[1:]
    return ""
