"""Pinned lines: they stand, word for word, in the memory that is read, whatever a model makes of it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned
from om_api.domain.note_lines import is_date
from om_api.domain.thread_sections import runs, section
from om_api.domain.values import Generation, Observation, Scope, check_id


@learned
class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """One line that stays, without its indent; `under` is the date above it, "" where there was none.

    `thread` is the thread it is of, "" for what a generation says of all of them. `by` whom and `at` when (Unix ms) it was
    pinned.
    """

    id: str
    text: str
    thread: str = ""
    under: str = ""
    at: int = 0
    by: str = ""


_decoder = msgspec.json.Decoder(tuple[Pin, ...])


def pins_of(text: str | bytes) -> tuple[Pin, ...]:
    """The pins that a record's field says. Raises msgspec.DecodeError for what is none."""
    return _decoder.decode(text) if text else ()


def written(pins: Iterable[Pin]) -> bytes:
    """What a record says of pins; nothing where there are none."""
    found = tuple(pins)
    return msgspec.json.encode(found) if found else b""


def check_pins(text: bytes) -> None:
    """Raise InvalidInputError, or msgspec.DecodeError, where a record's field is not what `written` writes."""
    for pin in pins_of(text):
        if len(pin.text.splitlines()) != 1 or len(pin.under.splitlines()) > 1:
            raise InvalidInputError(f"pin {pin.id[:80]} is not one line: take it out of the file")
        if pin.thread:
            check_id(pin.thread, "thread of a pin")


class Notes(NamedTuple):
    """A part of a memory: a generation's text, and observations. `pooled`: it is of several threads."""

    text: str
    observations: Sequence[Observation]
    pooled: bool

    @classmethod
    def of(cls, generations: Sequence[Generation], observations: Sequence[Observation], scope: Scope) -> "Notes":
        """Observations of a memory, and the generation that is in force of it, the last of those named, if any is."""
        return cls(generations[-1].text if generations else "", observations, scope.thread is None)

    def hold(self, pin: Pin) -> bool:
        """Whether a pinned line stands in them, as its thread's or as everybody's."""
        return stands(pin, self.text, pooled=self.pooled) or any(
            _has(pin, own.text.split("\n")) for own in self.observations if pin.thread in {"", own.thread_id}
        )


def stands(pin: Pin, text: str, *, pooled: bool) -> bool:
    """Whether a pinned line stands in a generation's text; of a pool in its thread's section, or outside of all."""
    lines = text.split("\n")
    parts = runs(lines) if pooled else [("", lines)]
    return any(_has(pin, some) for name, some in parts if name in {"", pin.thread})


def _has(pin: Pin, lines: Iterable[str]) -> bool:
    return any(line.strip() == pin.text for line in lines)


def needed(pins: Iterable[Pin], goes: Notes, stays: Notes) -> list[Pin]:
    """The pins that a text must hold which takes the place of what `goes`, beside what `stays`.

    What stands in both must be in the text too: its owner may forget what stays before the text is there.
    """
    return [pin for pin in pins if goes.hold(pin) or not stays.hold(pin)]


def with_pins(text: str, pins: Iterable[Pin], *, pooled: bool) -> str:
    """A generation's text with every pinned line that it lacks, each under its date, in a pool in its thread's section."""
    for pin in pins:
        if not stands(pin, text, pooled=pooled):
            text = "\n".join(_with(text.split("\n") if text else [], pin, pooled=pooled))
    return text


def _with(lines: list[str], pin: Pin, *, pooled: bool) -> list[str]:
    if not pooled:
        return _dated(lines, pin)
    before, done = list[str](), False
    for name, some in runs(lines):
        mine = not done and name == pin.thread
        done = done or mine
        put = _dated(list(some), pin) if mine else list(some)
        before += section(name, put) if name else put
    if done:
        return before
    return [*before, *section(pin.thread, _dated([], pin))] if pin.thread else [*_dated([], pin), *before]


def _dated(lines: list[str], pin: Pin) -> list[str]:
    """Lines with the pinned one at the end of what stands under its date; before all dates if it has none."""
    if not pin.under:
        return [pin.text, *lines]
    place = next((at for at, line in enumerate(lines) if line.strip() == pin.under), None)
    if place is None:
        return [*lines, pin.under, pin.text]
    end = next((at for at in range(place + 1, len(lines)) if is_date(lines[at])), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], pin.text, *lines[end:]]
