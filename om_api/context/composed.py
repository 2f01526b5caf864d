"""Where other memories' notes stand in a context: a stable part that grows at its end, and what came since, which closes it.

All of it follows from what is stored, so that two processes write the same bytes. What a memory had noted when the own one was
last activated is stable. What it noted later is news, until the own next activation, or until there is a step more of it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import msgspec

from om_api.domain.message_tokens import Count
from om_api.domain.snapshot import ComposedNotes, Snapshot
from om_api.domain.thread_sections import runs
from om_api.domain.values import Generation, Observation, Stored

# what came in force before that is in force: activations take less, the clocks of a Cluster differ by less
SLACK_MS = 10_000
_SHARE = 4  # of a memory's room: a quarter is that of its news, and a half that of its generation
_BY_STEP, _ACTIVATED = 0, 1  # how it joined: what grew by a step did so before the own activation
FRAME = 40  # tokens of the tags around a block, about


class OwnNotes(NamedTuple):
    """The observations of one of the own activations."""

    group: tuple[Observation, ...]


class OthersNotes(NamedTuple):
    """Observations of another memory's that came in force together."""

    resource: str
    group: tuple[Observation, ...]


class OthersGeneration(NamedTuple):
    """What is shown of another memory's generation in force, and how many of its lines have no room."""

    resource: str
    text: str
    cut: int = 0


class News(NamedTuple):
    """What closes a context of one memory: what came since, and how many older observations have no room anywhere."""

    resource: str
    observations: tuple[Observation, ...] = ()
    left_out: int = 0
    cut: int = 0


class Composition(NamedTuple):
    """All of it in reading order: generations of others, then own and others' observations as they came; and what is news."""

    generations: tuple[OthersGeneration, ...] = ()
    stable: tuple[OwnNotes | OthersNotes, ...] = ()
    news: tuple[News, ...] = ()

    def shown(self) -> dict[str, list[Observation]]:
        """The observations of other memories that stand in a context, by whose they are."""
        found: dict[str, list[Observation]] = {each.resource: [] for each in self.news}
        for block in self.stable:
            if isinstance(block, OthersNotes):
                found[block.resource] += block.group
        for news in self.news:
            found[news.resource] += news.observations
        return found


class OwnTimes(NamedTuple):
    """When the own memory was last reflected and last activated, 0 if it never was, and when its oldest raw message was said."""

    reflected: int
    observed: int
    said: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> "OwnTimes":
        """Those of what was read."""
        said = min((message.at for message in snapshot.messages), default=snapshot.now)
        known = snapshot.record.reflected_at or snapshot.record.observed_at
        return cls(snapshot.record.reflected_at, snapshot.record.observed_at, 0 if known or snapshot.unread else said)


class _NoteUnit(NamedTuple):
    """One observation of another memory, when it came in force, and what it takes."""

    at: int
    observation: Observation
    tokens: int


class _NoteBatch(NamedTuple):
    """Observations of one memory that join the stable part at once: at which own activation, and when within."""

    slot: int
    how: int
    at: int
    rank: int
    units: tuple[_NoteUnit, ...]

    def of(self, kept: Sequence[_NoteUnit]) -> "_NoteBatch":
        """The same of what has room."""
        names = {unit.observation.id for unit in kept}
        return self._replace(units=tuple(unit for unit in self.units if unit.observation.id in names))


class _NotesRoom(NamedTuple):
    """How many tokens there are for a memory's notes."""

    most: int

    @property
    def step(self) -> int:
        return max(self.most // _SHARE, 1)

    @property
    def generation(self) -> int:
        return self.most // 2

    def observations(self, generation: int) -> int:
        """What a generation leaves to observations that are stable."""
        return self.most - self.step - generation


class _Arranged(NamedTuple):
    """One memory's notes, arranged."""

    generation: OthersGeneration
    batches: list[_NoteBatch]
    news: News


def composition(
    composed: Sequence[ComposedNotes], observations: Sequence[Stored], times: OwnTimes, whose: str, count: Count
) -> Composition:
    """Arrange what was read for the memory of `whose`; `observations` are the own ones, in order."""
    if not composed:
        return Composition()
    own = [tuple(stored.observation for stored in group) for _, group in groupby(observations, key=_activation)]
    bounds = _bounds(own, times)
    others = [_without_own(notes, whose) for notes in composed]
    arranged = [_arranged(notes, rank, bounds, count) for rank, notes in enumerate(others)]
    batches = [batch for each in arranged for batch in each.batches]
    return Composition(
        tuple(each.generation for each in arranged if each.generation.text),
        tuple(_in_order(own, batches, [notes.resource for notes in composed])),
        tuple(each.news for each in arranged),
    )


def _without_own(notes: ComposedNotes, whose: str) -> ComposedNotes:
    """A memory's notes without what it was told of this one, which stands among the own notes."""
    came = [(stored, stored.observation.shared_from) for stored in notes.observations]
    return msgspec.structs.replace(
        notes, observations=[each for each, of in came if of is None or of.resource != whose]
    )


def _arranged(notes: ComposedNotes, rank: int, bounds: Sequence[int], count: Count) -> _Arranged:
    room, told, units = _NotesRoom(notes.max_tokens), _generation(notes, count), _units(notes, count)
    batches = list(_joined(units, bounds, room.step, rank))
    most = room.observations(count(told.text) + FRAME if told.text else 0)
    kept = _within([unit for batch in batches if batch.slot < len(bounds) for unit in batch.units], most)
    shown = [batch.of(kept) for batch in batches if batch.slot < len(bounds)]
    left = most - sum(map(_size, kept))
    for batch in (batch for batch in batches if batch.slot >= len(bounds)):
        left -= sum(map(_size, batch.units))
        if left < 0:  # no room without moving what stands there: it stays news until the own next activation
            break
        shown.append(batch)
    stands = sum(len(batch.units) for batch in batches[: len(shown)])
    fits = _newest(units[stands:], room.step)
    lacking = notes.unread + len(units) - sum(len(batch.units) for batch in shown) - len(fits)
    return _Arranged(told, shown, News(notes.resource, tuple(unit.observation for unit in fits), lacking, told.cut))


def _activation(stored: Stored) -> str:
    """By what own observations are told apart, as blocks of them are."""
    return stored.observation.activation or f"={stored.observation.id}"


def _bounds(own: Sequence[Sequence[Observation]], times: OwnTimes) -> list[int]:
    """Up to when others' notes stand before all own observations, and up to when before each own activation's."""
    first = times.reflected or (min(each.from_ for each in own[0]) if own else 0) or times.observed or times.said
    return list(accumulate((at - SLACK_MS for at in (first, *(_came(group[0]) for group in own))), max))


def _came(observation: Observation) -> int:
    """When an observation came in force; of one that does not say, when it was made, which is before."""
    return observation.activated_at or observation.created_at


def _units(notes: ComposedNotes, count: Count) -> list[_NoteUnit]:
    """A memory's observations in order, without those that found nothing worth noting; no time is before the one before."""
    told = [each.observation for each in notes.observations if each.observation.text.strip()]
    times = accumulate(map(_came, told), max)
    # another memory's writers can store any `tokens`, so they are counted here
    return [_NoteUnit(at, each, count(each.text)) for at, each in zip(times, told, strict=True)]


def _joined(units: Sequence[_NoteUnit], bounds: Sequence[int], step: int, rank: int) -> Iterator[_NoteBatch]:
    """What of a memory is stable, as it joined: with each own activation, and before it at each step that it grew by."""
    slots = groupby(units, key=lambda unit: bisect_left(bounds, unit.at))
    for slot, group in slots:
        waiting, total = list[_NoteUnit](), 0
        ended = list[int]()
        for unit in group:
            waiting.append(unit)
            before, total = total, total + unit.tokens
            ended.append(total)
            if total // step > before // step:
                joins = sum(1 for end in ended if end <= total // step * step)
                if joins:
                    yield _NoteBatch(slot, _BY_STEP, unit.at, rank, tuple(waiting[:joins]))
                waiting, ended = waiting[joins:], ended[joins:]
        if waiting and slot < len(bounds):
            yield _NoteBatch(slot, _ACTIVATED, waiting[0].at, rank, tuple(waiting))


def _size(unit: _NoteUnit) -> int:
    return unit.tokens + FRAME


def _within(units: Sequence[_NoteUnit], room: int) -> list[_NoteUnit]:
    """Which of them have room, the newest; the oldest go by half the room at a time, so that what begins them seldom moves."""
    sizes = list(map(_size, units))
    over, half = sum(sizes) - room, max(room // 2, 1)
    gone = -(-over // half) * half if over > 0 else 0
    ends = zip(units, accumulate(sizes), sizes, strict=True)
    return [unit for unit, end, size in ends if end - size >= gone]


def _newest(units: Sequence[_NoteUnit], room: int) -> list[_NoteUnit]:
    """The newest that have room together, in order."""
    kept = list[_NoteUnit]()
    for unit in reversed(units):
        room -= unit.tokens
        if room < 0:
            break
        kept.append(unit)
    return kept[::-1]


def _in_order(
    own: Sequence[tuple[Observation, ...]], batches: Sequence[_NoteBatch], names: Sequence[str]
) -> Iterator[OwnNotes | OthersNotes]:
    ordered = sorted(batches, key=lambda batch: batch[:4])
    for slot in range(len(own) + 2):
        for batch in (each for each in ordered if each.slot == slot):
            yield from _blocks(names[batch.rank], batch.units)
        if 1 <= slot <= len(own):
            yield OwnNotes(own[slot - 1])


def _blocks(resource: str, units: Iterable[_NoteUnit]) -> Iterator[OthersNotes]:
    named = groupby(units, key=lambda unit: unit.observation.activation or f"={unit.observation.id}")
    for _, group in named:
        yield OthersNotes(resource, tuple(unit.observation for unit in group))


def _generation(notes: ComposedNotes, count: Count) -> OthersGeneration:
    """The newest lines of a generation that have room, without the headings of threads, which are nothing to others."""
    text = _plain(notes.generation)
    lines, room = text.split("\n"), _NotesRoom(notes.max_tokens).generation
    if not text or count(text) <= room:
        return OthersGeneration(notes.resource, text)
    kept = list[str]()
    for line in reversed(lines):
        room -= count(f"{line}\n")
        if room < 0:
            break
        kept.append(line)
    return OthersGeneration(notes.resource, "\n".join(kept[::-1]).strip("\n"), len(lines) - len(kept))


def _plain(generation: Generation | None) -> str:
    if generation is None or not generation.text.strip():
        return ""
    return "\n".join(line for _, lines in runs(generation.text.split("\n")) for line in lines)
