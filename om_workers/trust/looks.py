"""How a text looks: whether it gives orders to a model that reads it, in plain words or in a disguise."""

from enum import IntEnum
from typing import NamedTuple

from om_api.patterns.pattern import Pattern
from om_workers.trust.disguises import beneath, plain
from om_workers.trust.lists import lines_of

# the same without blanks, for what was spelled letter by letter
_RUN_TOGETHER = Pattern(
    r"(?:ignore|disregard|forget|override)(?:all|any|your|the)?(?:of)?(?:previous|prior|above|earlier|your|system)\w*"
    r"|systemprompt|do(?:not|nt)telltheuser|youarenow|send(?:the|your)(?:password|memory)"
    r"|ignoriere?alle|ignorez?(?:toutes)?lesinstructions|ignoratodas",
    ignore_case=True,
)


_VETO = "but not before: "
_NEAR = 100  # characters behind a match in which a veto is looked for


class _Patterns(NamedTuple):
    """The patterns of a list: one for all that have no veto, if there are some, and the others with theirs."""

    plain: tuple[Pattern, ...]
    vetoed: tuple[tuple[Pattern, Pattern], ...]

    def found_in(self, text: str) -> bool:
        """Whether one of them is found where its veto does not follow."""
        return any(pattern.search(text) for pattern in self.plain) or any(
            not veto.match(text[found.end() : found.end() + _NEAR])
            for pattern, veto in self.vetoed
            for found in pattern.finditer(text)
        )


def _compiled(name: str) -> _Patterns:
    """The patterns of a list. A line `but not before: …` is the veto of the line above it."""
    plain, vetoed = list[str](), list[tuple[Pattern, Pattern]]()
    for line in _named(lines_of(name)):
        if line.startswith(_VETO):
            pattern, veto = plain.pop(), line.removeprefix(_VETO)
            vetoed.append((Pattern(pattern, ignore_case=True), Pattern(veto, ignore_case=True)))
        else:
            plain.append(f"(?:{line})")
    either = (Pattern("|".join(plain), ignore_case=True),) if plain else ()
    return _Patterns(either, tuple(vetoed))


def _named(lines: list[str]) -> list[str]:
    """The lines with what names.txt says for each name in them."""
    text = "\n".join(lines)
    for name, said in (line.split(" ", 1) for line in lines_of("names.txt")):
        text = text.replace(f"%{name}%", said)
    return text.split("\n")


_ORDER, _ADDRESS, _IMPERATIVE = map(_compiled, ("orders.txt", "addresses.txt", "imperatives.txt"))


class Look(IntEnum):
    """How a text looks: it says something, may speak to a model, or gives a model orders that nobody gives in good faith."""

    SAYS = 0
    ADDRESSES = 1
    ORDERS = 2


def look_of(text: str) -> Look:
    """How a text looks, whatever it is disguised as."""
    shown = plain(text)
    if _ORDER.found_in(shown) or any(map(_disguised, beneath(shown))):
        return Look.ORDERS
    return Look.ADDRESSES if _ADDRESS.found_in(shown) else Look.SAYS


def is_imperative(note: str) -> bool:
    """Whether a note tells its reader to do something, or what an agent does: as who takes a request for his own writes it."""
    return _IMPERATIVE.found_in(plain(note))


def _disguised(text: str) -> bool:
    return bool(_ORDER.found_in(text) or _RUN_TOGETHER.search(text))
