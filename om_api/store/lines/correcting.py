"""Lines that people write: added to a memory, corrected where they stand, taken back."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError, NotFoundError, StoreError
from om_api.domain.notes.activations import tokens_of_text
from om_api.domain.notes.edits import NotedLine, corrected, lines_of, means, replaced
from om_api.domain.notes.marks import marked_lines
from om_api.domain.notes.pins import Notes, Pin, written
from om_api.domain.values import Correction, Generation, Observation, Outcome, Scope, Stored, new_id
from om_api.store.driver.replies import as_bytes, outcome
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory import restore
from om_api.store.memory.content import Content, content
from om_api.store.memory.keys import Keys
from om_api.store.memory.quarantine import PLACEHOLDER
from om_api.store.memory.reading import stored_scope

TRIES = 8
KEPT_CORRECTIONS = 3  # of one observation: its texts before them are read with it
_LISTED, _CLIPPED = 10, 200


class LineChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a line: where it stands (an observation, else a generation), of which thread ("": of all), what it says.

    `pinned`: it is pinned, as it says now.
    """

    outcome: Outcome
    observation_id: str = ""
    generation: int = 0
    thread_id: str = ""
    was: str = ""
    now: str = ""
    pinned: bool = False


class FoundLine(NamedTuple):
    """A line of a memory, and the observation it is of; None: of the generation in force."""

    line: NotedLine
    stored: Stored | None

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"observation {self.stored.observation.id}" if self.stored else "the reflection"


class By(NamedTuple):
    """Who changes a line, and when (Unix ms)."""

    name: str
    at: int


class Keeping(NamedTuple):
    """How many generations are kept, and how long (s) what they replaced."""

    generations: int
    ttl_s: int


def add(keys: Keys, scope: Scope, made: Observation) -> Steps[Outcome]:
    """Append an observation that somebody wrote. Raises StoreError where the memory changes faster than it can be read."""
    of = keys.of(scope.resource)
    for _ in range(TRIES):
        if stands := (yield from as_bytes("HGET", of.aliases, made.thread_id)):  # since it was named
            made = msgspec.structs.replace(made, thread_id=stands.decode())
            scope = Scope(scope.resource, scope.thread and made.thread_id)
        read = yield from content(keys, scope)
        word = "resource" if scope.thread is None else "thread"
        names = [of.scope, of.record(scope), of.tokens, of.observations(scope), of.threads, of.aliases]
        args = [word, read.epoch, new_id(), new_id(), made.thread_id, msgspec.json.encode(made), made.tokens, ""]
        done = yield from Verb("add_line", names, args, outcome)
        if done is Outcome.ADDED:
            return done
        if (yield from stored_scope(keys, scope.resource)) not in {None, word}:
            break
    raise too_fast(scope)


def too_fast(scope: Scope) -> StoreError:
    """That a memory changes all the time."""
    return StoreError(f"{scope} changes faster than it can be read: repeat.", stored=False)


def candidates(read: Content, thread: str | None, observation: str | None) -> Iterable[FoundLine]:
    """Every line that is in force, of one thread and of what is common, or of all; of one observation if that is named."""
    if read.in_force and not observation:
        pooled, own = read.scope.thread is None, read.scope.thread or ""
        for line in lines_of(read.in_force.text, own, pooled=pooled):
            if thread is None or line.thread in {"", thread}:
                yield FoundLine(line, None)
    for stored in read.observations:
        one = stored.observation
        wanted = observation in {None, one.id} and thread in {None, one.thread_id}
        if wanted and one.model != PLACEHOLDER:
            yield from (FoundLine(line, stored) for line in lines_of(one.text, one.thread_id, pooled=False))


def the_one(found: Sequence[FoundLine], given: str, scope: Scope, advice: str) -> FoundLine:
    """The line that is meant. Raises NotFoundError for none, which ends with an advice, and InvalidInputError for several."""
    if not found:
        raise NotFoundError(f"no line of {scope} says {given.strip()[:_CLIPPED]!r}: {advice}")
    if len(found) > 1:
        listed = "; ".join(f"{each.place}: {each.line.text.strip()[:_CLIPPED]}" for each in found[:_LISTED])
        raise InvalidInputError(
            f"{len(found)} lines of {scope} are meant: name the thread, or the observation, or the whole line. {listed}"
        )
    return found[0]


class Corrector:
    """Corrects lines of one memory, by somebody's hand."""

    def __init__(self, keys: Keys, scope: Scope, count: Callable[[str], int], by: By, keeping: Keeping) -> None:
        self._keys, self._scope, self._count, self._by, self._keeping = keys, scope, count, by, keeping

    def correct(self, was: str, now: str, thread: str | None, observation: str | None) -> Steps[LineChange]:
        """Put a line that says `now` in the place of one; "" takes it out, with the details under it.

        An observation is changed where it stands; of the generation in force the next one is made. `rest` where it says so
        already. Raises NotFoundError, InvalidInputError where it is not the only one or what is pinned would go.
        """
        for _ in range(TRIES):
            read = yield from content(self._keys, self._scope)
            every = list(candidates(read, thread, observation))
            means_it = [each for each in every if means(each.line.text, was)]
            found = the_one(
                _distinct(means_it), was, self._scope, "om context shows what they say; copy one as a whole"
            )
            say = corrected(found.line.text, now) if now.strip() else ""
            if say == found.line.text:
                return self._changed(Outcome.REST, read, found, say)
            done = yield from (self._in_place(read, found, say) if found.stored else self._next(read, found, say))
            if done.outcome is not Outcome.SUPERSEDED:
                return done
        raise too_fast(self._scope)

    def undo(self, observation: str) -> Steps[LineChange | None]:
        """Take the newest correction of an observation back; None where it is not in force here, or nothing of it is kept."""
        for _ in range(TRIES):
            read = yield from content(self._keys, self._scope)
            stored = next((each for each in read.observations if each.observation.id == observation), None)
            if stored is None or not stored.observation.corrections:
                return None
            *rest, last = stored.observation.corrections
            line = NotedLine(last.now, stored.observation.thread_id, "")
            pins = _repinned(read.pins, line, last.was)
            done = yield from self._write(read, FoundLine(line, stored), last.was, last.text, pins, tuple(rest))
            if done.outcome is not Outcome.SUPERSEDED:
                return done
        raise too_fast(self._scope)

    def _in_place(self, read: Content, found: FoundLine, say: str) -> Steps[LineChange]:
        own = _observation(found)
        text = replaced(own.text, found.line.text, say, own.thread_id, pooled=False)
        made = Correction(was=found.line.text, now=say, text=own.text, by=self._by.name, at=self._by.at)
        corrections = (*own.corrections, made)[-KEPT_CORRECTIONS:]
        return (yield from self._write(read, found, say, text, _repinned(read.pins, found.line, say), corrections))

    def _write(
        self,
        read: Content,
        found: FoundLine,
        say: str,
        text: str,
        pins: Sequence[Pin],
        corrections: tuple[Correction, ...],
    ) -> Steps[LineChange]:
        own, stored = _observation(found), found.stored
        others = [each.observation for each in read.observations if each is not stored]
        left = [*others, msgspec.structs.replace(own, text=text)]
        _check_pins(pins, Notes.of([read.in_force] if read.in_force else [], left, self._scope))
        tokens = tokens_of_text(own, text, self._count)
        said = {"text": text, **tokens, "corrections": corrections, "marked": marked_lines(text)}
        was = stored.member if stored else b""
        becomes = msgspec.json.encode({**msgspec.json.decode(was), **said})
        of = self._keys.of(self._scope.resource)
        names = [of.record(self._scope), of.observations(self._scope), of.draft(self._scope)]
        args: list[Any] = [
            read.epoch,
            new_id(),
            exact(stored.seq if stored else 0),
            was,
            becomes,
            tokens["tokens"] - own.tokens,
        ]
        done = yield from Verb("correct", names, [*args, read.pinned, written(pins)], outcome)
        return self._changed(done, read, found, say)

    def _next(self, read: Content, found: FoundLine, say: str) -> Steps[LineChange]:
        was = _generation(read)
        text = replaced(was.text, found.line.text, say, found.line.thread, pooled=self._scope.thread is None)
        made = msgspec.structs.replace(
            was,
            n=was.n + 1,
            origin="correction",
            by=self._by.name,
            text=text,
            tokens=self._count(text) if text else 0,
            created_at=self._by.at,
            input_tokens=was.tokens,
            observation_ids=(),
            dropped_ids=(),
            candidates=(),
            pieces=(),
            restores=None,
            loss=None,
            cost=0.0,
        )
        pins = _repinned(read.pins, found.line, say)
        _check_pins(pins, Notes.of([made], [each.observation for each in read.observations], self._scope))
        of, keeping = self._keys.of(self._scope.resource), self._keeping
        names, args = restore.call(of, read, made, keeping.generations, keeping.ttl_s, pins=written(pins))
        done = yield from Verb("restore", names, args, outcome)
        return self._changed(Outcome.CORRECTED if done is Outcome.RESTORED else done, read, found, say)

    def _changed(self, done: Outcome, read: Content, found: FoundLine, say: str) -> LineChange:
        return LineChange(
            outcome=done,
            observation_id=found.stored.observation.id if found.stored else "",
            generation=0 if found.stored else _generation(read).n + (done is Outcome.CORRECTED),
            thread_id=found.line.thread,
            was=found.line.text,
            now=say,
            pinned=any(_is(pin, found.line) for pin in read.pins),
        )


def _distinct(found: Iterable[FoundLine]) -> list[FoundLine]:
    """Lines, each once: what an observation says twice in the same words is one."""
    places = {(each.line.text, each.line.thread, each.place): each for each in found}
    return list(places.values())


def _observation(found: FoundLine) -> Observation:
    if found.stored is None:
        raise TypeError("a line of a generation is of no observation")
    return found.stored.observation


def _generation(read: Content) -> Generation:
    if read.in_force is None:
        raise TypeError("there is no generation")
    return read.in_force


def _is(pin: Pin, line: NotedLine) -> bool:
    return pin.text == line.text.strip() and (line.thread == pin.thread or "" in {line.thread, pin.thread})


def _repinned(pins: Iterable[Pin], line: NotedLine, say: str) -> list[Pin]:
    """The pins, of which those of a line are of what it says now; raises InvalidInputError where another one says so already."""
    pins, new = list(pins), say.strip()
    moved = [pin for pin in pins if new and _is(pin, line)]
    if any(pin.text == new and pin.thread in {"", each.thread} for each in moved for pin in pins if pin not in moved):
        raise InvalidInputError(
            f"two pinned lines would say {new[:_CLIPPED]!r}: unpin one of them first (om unpin), then repeat"
        )
    return [msgspec.structs.replace(pin, text=new) if new and _is(pin, line) else pin for pin in pins]


def _check_pins(pins: Iterable[Pin], left: Notes) -> None:
    for pin in pins:
        if not left.hold(pin):
            raise InvalidInputError(
                f"that takes a pinned line away: {pin.text[:_CLIPPED]!r}. Unpin it first (om unpin), then repeat"
            )
