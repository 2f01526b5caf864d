"""What changes in a memory so that nothing of what is erased is left in it, and how erase.lua is told."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from om_api.domain.message_tokens import count_message
from om_api.domain.notes.pins import Pin, pins_of, written
from om_api.domain.values import Stored, new_id
from om_api.store.driver.steps import exact
from om_api.store.erasing.whole_memory import Kept, WholeMemory
from om_api.store.memory.keys import ResourceKeys
from om_api.store.memory.known import sealing
from om_api.store.memory.quarantine import as_listed


class Cut(NamedTuple):
    """Messages of one place: those that go, and what is left of them under another name, as a chunk of the seq `at`."""

    name: str
    thread: str
    new_id: str
    gone: list[Kept]
    left: list[Kept]
    at: float = 0


class Rewritten(NamedTuple):
    """A note at its place (a seq, or a generation's number), as it was and as it is to be; b"" where it goes."""

    place: float
    was: bytes
    becomes: bytes
    tokens: int  # by how many it grows; of a generation, how many it has then
    name: str
    lines: tuple[str, ...]


class Quarantine(NamedTuple):
    """A resource's quarantine as it was read, and those of its entries that go."""

    listed: list[bytes]
    gone: list[bytes]

    @property
    def left(self) -> "Quarantine":
        """What it is when they are gone."""
        gone = set(self.gone)
        return Quarantine([entry for entry in self.listed if entry not in gone], [])


class Plan(NamedTuple):
    """All that changes in a memory; see erase.lua for what becomes of each. `pins` are those that stay, as a record says them.

    `drafted` are the lines of a draft that tell what goes; any draft goes with any change, and is thought again.
    """

    held: WholeMemory
    raw: dict[str, list[Kept]]
    fields: dict[str, list[str]]
    cut: list[Cut]
    again: list[tuple[Stored, Cut]]
    sources: dict[str, list[Kept]]
    observations: list[Rewritten]
    histories: dict[int, list[Rewritten]]
    generations: list[Rewritten]
    pins: bytes = b""
    drafted: tuple[str, ...] = ()

    @property
    def unpinned(self) -> list[Pin]:
        """The pins that go."""
        kept = {pin.id for pin in pins_of(self.pins)}
        return [pin for pin in self.held.content.pins if pin.id not in kept]

    @property
    def messages(self) -> list[Kept]:
        """Every message that goes."""
        parts = [*self.cut, *(part for _, part in self.again)]
        found = [*self.raw.values(), *(part.gone for part in parts), *self.sources.values()]
        return [kept for some in found for kept in some]

    @property
    def taken_apart(self) -> list[tuple[str, list[str]]]:
        """Observations in force that go because messages behind them do, with their lines; what is left is observed again."""
        return [(stored.observation.id, stored.observation.text.split("\n")) for stored, _ in self.again]

    @property
    def notes(self) -> list[Rewritten]:
        """Every other observation that loses lines, or goes, in force or replaced."""
        return [*self.observations, *(each for some in self.histories.values() for each in some)]

    @property
    def observes_again(self) -> list[str]:
        """Chunks and observations of which something is left that is observed again."""
        return [part.name for part in (*self.cut, *(part for _, part in self.again)) if part.left]

    def __bool__(self) -> bool:
        """Whether anything changes."""
        listed = (self.messages, self.notes, self.generations, self.again, self.drafted)
        return any(listed) or any(self.fields.values()) or self._repins

    @property
    def _repins(self) -> bool:
        return self.pins != written(self.held.content.pins)


def call(
    plan: Plan, quarantine: Quarantine, of: ResourceKeys, word: str, count: Callable[[str], int]
) -> tuple[list[str], list[Any]]:
    """The keys and arguments of erase.lua."""
    read, scope = plan.held.content, plan.held.content.scope
    names = [of.scope, of.record(scope), of.tokens, of.chunks(scope), of.observations(scope), of.reflections(scope)]
    histories = {n: some for n, some in plan.histories.items() if some}
    threads = [name for name in plan.raw if plan.raw[name] or plan.fields[name] or _sealed(plan, name)]
    names += [of.draft(scope), of.rejected, *(of.reflected(scope, n) for n in histories)]
    names += [name for thread in threads for name in (of.messages(thread), of.known(thread), of.thread(thread))]
    for part in plan.cut:
        names += [of.chunk(part.name), of.sealed(part.name), of.segment(part.name)]
        names += [of.chunk(part.new_id), of.sealed(part.new_id)]
    for _, part in plan.again:
        names += [of.source(part.name), of.segment(part.name), of.chunk(part.new_id), of.sealed(part.new_id)]
    names += [key for name in plan.sources for key in (of.source(name), of.segment(name))]
    args: list[Any] = [word, read.epoch, new_id(), read.seq, read.generation, *as_listed(quarantine.listed), plan.pins]
    args += [len(quarantine.gone), *quarantine.gone, len(histories)]
    for some in histories.values():
        args += _listed(some, lambda each: [exact(each.place), each.was, each.becomes])
    args += _listed(threads, lambda thread: _of_thread(plan, thread, count))
    args += _listed(plan.cut, lambda part: _of_part(part, count))
    args += _listed(plan.again, lambda each: _of_observation(each[0], each[1], count))
    args += [len(plan.sources), *(word for gone in plan.sources.values() for word in _members(gone))]
    args += _listed(plan.observations, lambda each: [exact(each.place), each.becomes, each.tokens])
    return names, args + _listed(plan.generations, lambda each: [int(each.place), each.becomes, each.tokens])


def _listed(some: Sequence[Any], words: Callable[[Any], list[Any]]) -> list[Any]:
    return [len(some), *(word for each in some for word in words(each))]


def _members(kept: Sequence[Kept]) -> list[Any]:
    return [len(kept), *(each.member for each in kept)]


def _of_thread(plan: Plan, name: str, count: Callable[[str], int]) -> list[Any]:
    raw, fields = plan.raw[name], plan.fields[name]
    records = sealing(kept.member for kept in (*raw, *_sealed(plan, name)))
    return [name, plan.held.threads[name].members, _weight(raw, count), *_members(raw), len(fields), *fields, records]


def _sealed(plan: Plan, thread: str) -> list[Kept]:
    """What of a thread is to be known as sealed now: what goes, and what is sealed again."""
    found = [kept for part in plan.cut if part.thread == thread for kept in part.gone]
    return found + [kept for _, part in plan.again if part.thread == thread for kept in (*part.gone, *part.left)]


def _of_part(part: Cut, count: Callable[[str], int]) -> list[Any]:
    return [part.name, part.new_id, _weight(part.left, count), len(part.left), *_members(part.gone)]


def _of_observation(stored: Stored, part: Cut, count: Callable[[str], int]) -> list[Any]:
    own = stored.observation
    args = [own.id, exact(stored.seq), own.tokens, own.message_tokens, part.new_id, exact(part.at)]
    return [*args, _weight(part.left, count), len(part.left), *_members(part.gone), part.thread]


def _weight(kept: Iterable[Kept], count: Callable[[str], int]) -> int:
    return sum(count_message(each.message, count) for each in kept)
