"""How a text looks: whether it gives orders to a model that reads it, in plain words or in a disguise."""

import re
from enum import IntEnum

from om_workers.trust.disguises import beneath, plain
from om_workers.trust.lists import lines_of

# the same without blanks, for what was spelled letter by letter
_RUN_TOGETHER = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|your|the)?(?:of)?(?:previous|prior|above|earlier|your|system)\w*"
    r"|systemprompt|do(?:not|nt)telltheuser|youarenow|send(?:the|your)(?:password|memory)"
    r"|ignoriere?alle|ignorez?(?:toutes)?lesinstructions|ignoratodas",
    re.IGNORECASE,
)


def _compiled(name: str) -> re.Pattern[str]:
    named = dict(line.split(" ", 1) for line in lines_of("names.txt"))
    either = "|".join(f"(?:{line})" for line in lines_of(name))
    return re.compile(re.sub(r"%([A-Z]+)%", lambda found: named[found[1]], either), re.IGNORECASE)


_ORDER, _ADDRESS, _IMPERATIVE = map(_compiled, ("orders.txt", "addresses.txt", "imperatives.txt"))


class Look(IntEnum):
    """How a text looks: it says something, may speak to a model, or gives a model orders that nobody gives in good faith."""

    SAYS = 0
    ADDRESSES = 1
    ORDERS = 2


def look_of(text: str) -> Look:
    """How a text looks, whatever it is disguised as."""
    shown = plain(text)
    if _ORDER.search(shown) or any(map(_disguised, beneath(shown))):
        return Look.ORDERS
    return Look.ADDRESSES if _ADDRESS.search(shown) else Look.SAYS


def is_imperative(note: str) -> bool:
    """Whether a note tells its reader to do something, or what an agent does: as who takes a request for his own writes it."""
    return _IMPERATIVE.search(plain(note)) is not None


def _disguised(text: str) -> bool:
    return bool(_ORDER.search(text) or _RUN_TOGETHER.search(text))
