"""Pinning a line of a memory, and letting it go: what is pinned is written while the line stands there."""

from collections.abc import Callable, Sequence

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.notes.edits import LONGEST, means
from om_api.domain.notes.pins import Pin, written
from om_api.domain.values import Outcome, Scope, new_id
from om_api.store.driver.replies import outcome
from om_api.store.driver.steps import Steps, Verb
from om_api.store.lines.correcting import TRIES, By, FoundLine, candidates, the_one, too_fast
from om_api.store.memory.content import Content, content
from om_api.store.memory.keys import Keys

MOST_PINS = 50  # of one memory: each of them is read with it
_ADVICE = "add it first (om line add), or copy one of the lines that om context shows"


class Pinned(msgspec.Struct, frozen=True):
    """What became of a pin; `rest`: the line was pinned already, or was not."""

    outcome: Outcome
    pin: Pin


def pin(
    keys: Keys, scope: Scope, given: str, thread: str | None, by: By, most: int, count: Callable[[str], int]
) -> Steps[Pinned]:
    """Pin the line that is meant; all pinned ones together have at most so many tokens.

    Raises NotFoundError where no line says so, InvalidInputError where several do, or too much would be pinned.
    """
    for _ in range(TRIES):
        read = yield from content(keys, scope)
        means_it = [each for each in candidates(read, thread, None) if means(each.line.text, given)]
        line = the_one(_distinct(means_it), given, scope, _ADVICE).line
        for known in read.pins:
            if known.text == line.text.strip() and known.thread == line.thread:
                return Pinned(Outcome.REST, known)
        new = Pin(id=new_id(), text=line.text.strip(), thread=line.thread, under=line.under, at=by.at, by=by.name)
        _check_room([*read.pins, new], most, count)
        if (yield from _write(keys, read, [*read.pins, new])) is Outcome.PINNED:
            return Pinned(Outcome.PINNED, new)
    raise too_fast(scope)


def unpin(keys: Keys, scope: Scope, given: str, thread: str | None) -> Steps[Pinned | None]:
    """Let a pinned line go, named by its id or by what it says; None where none is meant here.

    Raises InvalidInputError where several are.
    """
    for _ in range(TRIES):
        read = yield from content(keys, scope)
        found = [each for each in read.pins if thread in {None, each.thread} and _is_meant(each, given)]
        if not found:
            return None
        if len(found) > 1:
            names = ", ".join(each.id for each in found)
            raise InvalidInputError(f"{len(found)} pinned lines of {scope} say that: name one by its id, of {names}")
        if (yield from _write(keys, read, [each for each in read.pins if each != found[0]])) is Outcome.PINNED:
            return Pinned(Outcome.UNPINNED, found[0])
    raise too_fast(scope)


def _is_meant(pin: Pin, given: str) -> bool:
    return pin.id == given or means(pin.text, given)


def _write(keys: Keys, read: Content, pins: Sequence[Pin]) -> Steps[Outcome]:
    record = keys.of(read.scope.resource).record(read.scope)
    args = [read.epoch, read.generation, read.seq, read.pinned, written(pins)]
    return (yield from Verb("pin", [record], args, outcome))


def _distinct(found: Sequence[FoundLine]) -> list[FoundLine]:
    """Lines that may be pinned, each once; what an observation says before what is common to all threads."""
    ordered = sorted(found, key=lambda each: each.stored is None)
    lines = dict[tuple[str, str], FoundLine]()
    for each in ordered:
        text, threads = each.line.text.strip(), {name for said, name in lines if said == each.line.text.strip()}
        if each.line.thread not in threads and not (threads and not each.line.thread):
            lines[text, each.line.thread] = each
    return list(lines.values())


def _check_room(pins: Sequence[Pin], most: int, count: Callable[[str], int]) -> None:
    new = pins[-1]
    if len(new.text) > LONGEST:
        raise InvalidInputError(
            f"a line of {len(new.text):,} characters is too long to be pinned: shorten it first (om line correct)"
        )
    if len(pins) > MOST_PINS:
        raise InvalidInputError(
            f"{MOST_PINS} lines are pinned, and more cannot be: unpin one first (om pins lists them)"
        )
    tokens = sum(count(each.text) for each in pins)
    if tokens > most:
        raise InvalidInputError(
            f"with this line {tokens:,} tokens would be pinned, {most:,} at most (a tenth of observation_threshold): unpin one"
        )
