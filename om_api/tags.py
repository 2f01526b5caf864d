"""The tags our prompts and contexts are built of, and how text from elsewhere is kept from opening or closing them."""

from __future__ import annotations

import re

NAMES = (
    "observations",
    "thread",
    "reflection",
    "current-task",
    "suggested-response",
    "system-reminder",
    "unobserved-context",
    "memory",
    "previous-observations",
    "messages",
    "dropped",
    "task",
)
# what nobody sees: controls, soft hyphens, joiners, direction marks, fillers, variation selectors, tag letters
_UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_NAMES = "|".join(f"[{_UNSEEN}]*+".join(map(re.escape, name)) for name in NAMES)
_OPENS = re.compile(rf"<(?=[\s/{_UNSEEN}]*+(?:{_NAMES})(?![\w.:-]))", re.IGNORECASE)


def escape(text: str) -> str:
    """Return the text with every `<` that would open or close one of our tags written as `&lt;`.

    Upper case, attributes, missing ends, blanks and invisible characters hide no tag. All else, other XML, code and
    arrows, stays byte for byte; escaping twice changes nothing more. Takes time in proportion to the text.
    """
    return _OPENS.sub("&lt;", text) if "<" in text else text
