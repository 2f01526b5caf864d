"""Making one thread an alias of another: what it holds becomes that thread's, in every tier, in one step."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError, NotFoundError, StoreError
from om_api.domain.identity import KnownId, mark, record_of
from om_api.domain.kept.extractors import readdressed
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.notes.pins import written
from om_api.domain.thread_sections import renamed
from om_api.domain.values import Generation, Scope, Stored, TextPiece, check_id, new_id
from om_api.store.driver.replies import Pair, as_bool, as_fields, as_hash, as_list, as_pairs, says
from om_api.store.driver.steps import Steps, Verb, batch, by_name, exact
from om_api.store.memory.adopt import Redacts, adopt
from om_api.store.memory.content import Content, content
from om_api.store.memory.decoding import MEMORY, as_generation, memory_mode, message_of
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.known import COMPLETE, held_records
from om_api.store.memory.push import ServerClock
from om_api.store.memory.quarantine import as_listed, as_rejected
from om_api.store.memory.scope_state import raw_sets
from om_api.store.threads.aliases import aliases
from om_api.store.working import working

_TRIES = 8
_NAMED = 3  # messages that an error names


class Aliased(msgspec.Struct, frozen=True):
    """An alias, the thread that it stands for now, and what it held by itself, which is that thread's now.

    `messages` were not in an observation yet; `known` of these the thread had already, word for word.
    """

    alias: str
    thread: str
    messages: int = 0
    known: int = 0
    observations: int = 0


class _RawOfAlias(NamedTuple):
    """A raw message of an alias; `gone` where the thread knows it already."""

    member: bytes
    message: Message
    gone: bool = False


class _AliasContent(NamedTuple):
    """What an alias holds by itself: raw messages, whether its chunks are ready and what they say, which sources it has.

    `kept` are all working memories of the resource.
    """

    memory: Content
    raw: list[_RawOfAlias]
    chunks: dict[str, tuple[bytes | None, bytes | None]]
    sources: list[str]
    quarantine: list[bytes]
    aliases: list[str]
    kept: dict[bytes, bytes]

    @property
    def of_chunks(self) -> int:
        """How many messages are sealed."""
        return sum(chunk.messages for chunk in self.memory.chunks if chunk.id in self.chunks)


class Aliasing:
    """Has one name of a resource stand for a thread of it. `count` weighs what carries no tokens.

    Of a working memory `versions` former ones are kept. What plain writers left is redacted as `redacts` says.
    """

    def __init__(
        self,
        keys: Keys,
        clock: ServerClock,
        count: Callable[[str], int],
        resource: str,
        versions: int,
        redacts: Redacts,
    ) -> None:
        self._keys, self._clock, self._count, self._versions = keys, clock, count, versions
        self._redacts = redacts
        self._resource, self._of = resource, keys.of(resource)

    def target(self, alias: str, thread: str) -> Steps[str]:
        """The thread that a new alias would stand for; raises InvalidInputError for what would lead nowhere, or back."""
        check_id(alias, "alias")
        standing = yield from aliases(self._keys, self._resource)
        target, now = standing.get(check_id(thread, "thread_id"), thread), standing.get(alias)
        if target == alias:
            led = (
                "itself" if thread == alias else f"itself, by {thread}, which is an alias of it: unalias {thread} first"
            )
            raise InvalidInputError(f"alias {alias} of {self._resource} would stand for {led}")
        if now not in {None, target}:
            raise InvalidInputError(
                f"{alias} of {self._resource} is an alias of {now} already: unalias it first, then make it one of {target}"
            )
        met = yield from batch(
            as_bool("EXISTS", self._of.known(target), self._of.messages(target), self._of.thread(target)),
            as_fields("ZMSCORE", self._of.threads, target),
        )
        if not met[0] and met[1] == [None]:
            raise NotFoundError(
                f"{self._resource} has no messages of thread {target}: an alias needs a thread with messages; "
                f"`om threads {self._resource} --all` lists the threads"
            )
        return target

    def holds(self, alias: str) -> Steps[bool]:
        """Whether anything of a thread was sealed, or is behind an observation: then generations may tell of it too."""
        found = yield from as_hash("HGETALL", self._of.known(alias))
        return any(KnownId.of(record).day for record in held_records(found).values())

    def check(self, alias: str, thread: str, apart: Callable[[], Steps[Scope]]) -> Steps[None]:
        """Raise InvalidInputError for what `alias` would refuse just now."""
        target = yield from self.target(alias, thread)
        yield from self._held((yield from apart()), alias, target)

    def alias(self, alias: str, thread: str, apart: Callable[[], Steps[Scope]]) -> Steps[Aliased]:
        """Make it one; `apart` says which memory covers the alias. Repeating it changes nothing.

        Raises InvalidInputError where both know messages of one id that cannot be one message, or where the alias has a
        memory of its own.
        """
        for _ in range(_TRIES):
            target = yield from self.target(alias, thread)
            if (yield from aliases(self._keys, self._resource)).get(alias) == target:
                return Aliased(alias, target)
            scope = yield from apart()
            waiting = (yield from raw_sets(self._keys, self._resource, [alias]))[alias]
            if waiting.members != waiting.counted:
                redaction = self._redacts(self._resource)
                yield from adopt(self._keys, self._clock, self._resource, alias, self._count, redaction)
            held = yield from self._held(scope, alias, target)
            if held is None:
                continue
            names, args = _Call(self._of, held, alias, target, self._count).words(self._versions)
            if (yield from Verb("alias", names, args, says(b"aliased"))):
                raw = held.raw
                known, observed = sum(each.gone for each in raw), held.memory.of_thread(alias)
                return Aliased(alias, target, len(raw) + held.of_chunks, known, len(observed.observations))
        raise StoreError(f"{self._resource} changes faster than it can be read: repeat.", stored=False)

    def _held(self, scope: Scope, alias: str, thread: str) -> Steps[_AliasContent | None]:
        """What the alias holds; None where it is to be read again."""
        of = self._of
        memory = yield from content(self._keys, scope)
        if scope.thread and memory.epoch:
            raise self._of_its_own(alias)
        raw, known, sources, quarantine, counts, kept = yield from batch(
            as_pairs("ZRANGE", of.messages(alias), 0, -1, "WITHSCORES"),
            as_hash("HGETALL", of.known(alias)),
            as_list("ZRANGE", of.sources(alias), 0, -1),
            as_list("LRANGE", of.rejected, 0, -1),
            as_hash("HGETALL", of.tokens),
            as_hash("HGETALL", of.working),
        )
        if (messages := self._messages(raw)) is None:
            return None
        own_mode, mode = memory_mode(counts, alias), memory_mode(counts, thread)
        if own_mode != mode and (raw or held_records(known) or MEMORY + alias.encode() in counts):
            raise InvalidInputError(
                f"memory modes of {self._resource} differ: {alias} is {own_mode}, {thread} is {mode}; set one mode for both first"
            )
        if (raw or sources or memory.epoch) and COMPLETE.encode() not in counts:
            told = f"not every id of {self._resource} is known yet, as an older version kept it: repeat when the sweep has passed"
            raise StoreError(told, stored=False)
        parted = yield from self._parted(messages, held_records(known), memory, alias, thread)
        said = yield from self._answered([chunk.id for chunk in memory.chunks if chunk.thread == alias])
        standing = yield from aliases(self._keys, self._resource)
        own = [name for name, stands in standing.items() if stands == alias]
        return _AliasContent(memory, parted, said, [name.decode() for name in sources], quarantine, own, kept)

    def _answered(self, names: Sequence[str]) -> Steps[dict[str, tuple[bytes | None, bytes | None]]]:
        """The states of chunks, and what a model said of them."""
        said = yield from by_name(names, lambda name: as_fields("HMGET", self._of.chunk(name), "state", "observation"))
        return {name: (state, observation) for name, (state, observation) in said.items()}

    def _of_its_own(self, alias: str) -> InvalidInputError:
        resource = self._resource
        return InvalidInputError(
            f"thread {alias} of {resource} has a memory of its own: each thread of {resource} does, and two memories are not "
            f"made one. Clear it first (om clear {resource} --thread {alias}), or move {resource} to scope resource"
        )

    def _messages(self, raw: Sequence[Pair]) -> list[_RawOfAlias] | None:
        found = [(member, message_of((member, score), "-", "-")) for member, score in raw]
        messages = [_RawOfAlias(member, message) for member, message in found if message]
        return messages if len(messages) == len(raw) else None

    def _parted(
        self, raw: Sequence[_RawOfAlias], known: Mapping[bytes, bytes], memory: Content, alias: str, thread: str
    ) -> Steps[list[_RawOfAlias]]:
        """The raw messages, with what the thread knows of them; raises InvalidInputError for what both would hold."""
        names = {mark(each.message.id): each.message.id for each in raw}
        theirs = yield from self._recognised(thread, [*known])
        same = {key for key, record in theirs.items() if key in names and record[9:] == known[key][9:]}
        if both := [key for key in theirs if key not in same]:
            observed = memory.of_thread(alias)
            kept = [
                name for each in (*observed.observations, *observed.history) for name in each.observation.message_ids
            ]
            names |= {mark(name): name for name in kept}
            raise self._twice([names[key] for key in both if key in names], len(both), alias, thread)
        return [each._replace(gone=mark(each.message.id) in same) for each in raw]

    def _recognised(self, thread: str, keys: Sequence[bytes]) -> Steps[dict[bytes, bytes]]:
        if not keys:
            return {}
        found: list[bytes] = yield from Verb("recognise", [self._of.known(thread)], list(keys), _records)
        return {key: record for key, record in zip(keys, found, strict=True) if record}

    def _twice(self, names: Sequence[str], count: int, alias: str, thread: str) -> InvalidInputError:
        which = f" ({', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''})" if names else ""
        return InvalidInputError(
            f"threads {alias} and {thread} of {self._resource} both know {count:,} ids{which} of messages that differ, or that"
            f" were observed in both: one thread cannot hold two of one id. If {thread} holds all that matters, clear {alias}"
            f" first (om clear {self._resource} --thread {alias})"
        )


def _records(reply: Any) -> list[bytes]:
    return list(reply)


class _Call:
    """What the script is told: keys, and behind the versions the eight lists."""

    def __init__(
        self, of: ResourceKeys, held: _AliasContent, alias: str, thread: str, count: Callable[[str], int]
    ) -> None:
        self._of, self._held, self._alias, self._thread, self._count = of, held, alias, thread, count
        self._own = held.memory.of_thread(alias)
        self._texts = [*self._generations()] if held.memory.scope.thread is None else []

    @property
    def _touched(self) -> bool:
        """Whether anything of the memory changes but raw messages."""
        return bool(
            self._own.chunks or self._own.observations or self._own.history or self._texts or self._held.sources
        )

    def words(self, versions: int) -> tuple[list[str], list[Any]]:
        """Keys and arguments."""
        of, held, memory = self._of, self._held, self._held.memory
        scope = memory.scope
        names = [of.scope, of.record(scope), of.tokens, of.threads, of.rejected, of.draft(scope), of.aliases]
        names += [of.chunks(scope), of.observations(scope), of.reflections(scope)]
        for thread in (self._alias, self._thread):
            names += [of.messages(thread), of.known(thread), of.thread(thread), of.sources(thread)]
        names.append(of.working)
        word, fresh = "resource" if scope.thread is None else "thread", new_id() if self._touched else ""
        args: list[Any] = [word, memory.epoch, fresh, memory.seq, memory.generation, *as_listed(held.quarantine)]
        args += [self._pins(), self._alias, self._thread]
        for keys, words in (self._raw(), self._histories(), self._aliases(), self._chunks(), self._segments()):
            names += keys
            args += words
        args += _listed(map(self._line, self._own.observations)) + _listed(self._texts) + _listed(self._entries())
        args += _listed(working.moved(held.kept, self._alias, self._thread, versions))
        return names, args

    def _pins(self) -> bytes:
        pins = self._held.memory.pins
        moved = (msgspec.structs.replace(pin, thread=self._renamed(pin.thread)) for pin in pins)
        return written(moved) if any(pin.thread == self._alias for pin in pins) else self._held.memory.pinned.encode()

    def _renamed(self, thread: str) -> str:
        return self._thread if thread == self._alias else thread

    def _raw(self) -> tuple[list[str], list[Any]]:
        held = self._held.raw
        said = (
            (each.member, record_of(each.message), count_message(each.message, self._count), int(each.gone))
            for each in held
        )
        return [], _listed(said)

    def _histories(self) -> tuple[list[str], list[Any]]:
        some = {n: stored for n, stored in self._own.histories.items() if stored}
        names = [self._of.reflected(self._own.scope, n) for n in some]
        return names, [len(some), *(word for stored in some.values() for word in _listed(map(self._line, stored)))]

    def _aliases(self) -> tuple[list[str], list[Any]]:
        return [self._of.known(name) for name in self._held.aliases], _listed((name,) for name in self._held.aliases)

    def _chunks(self) -> tuple[list[str], list[Any]]:
        of, names, said = self._of, list[str](), list[tuple[Any, ...]]()
        for name, (state, observation) in self._held.chunks.items():
            ready = state == b"ready" and observation
            new = new_id()
            names += [of.chunk(name), of.sealed(name), of.segment(name), of.chunk(new), of.sealed(new)]
            said.append((name, "" if ready else new, self._readdressed(observation) if ready and observation else b""))
        return names, _listed(said)

    def _segments(self) -> tuple[list[str], list[Any]]:
        return [self._of.segment(name) for name in self._held.sources], _listed((name,) for name in self._held.sources)

    def _line(self, stored: Stored) -> tuple[Any, ...]:
        return exact(stored.seq), stored.member, self._readdressed(stored.member)

    def _readdressed(self, member: bytes) -> bytes:
        return msgspec.json.encode({**msgspec.json.decode(member), "thread_id": self._thread})

    def _generations(self) -> Iterable[tuple[Any, ...]]:
        for n, member in self._held.memory.generations:
            was = as_generation(member)
            text, pieces = renamed(was.text, self._alias, self._thread), [*map(self._piece, was.pieces)]
            extracted = readdressed(was.extracted, self._alias, self._thread)
            if text != was.text or pieces != [*was.pieces] or extracted != was.extracted:
                said = {"text": text, "tokens": self._weight(was, text), "pieces": pieces, "extracted": extracted}
                yield n, msgspec.json.encode({**msgspec.json.decode(member), **said}), said["tokens"]

    def _weight(self, was: Generation, text: str) -> int:
        return was.tokens if text == was.text else self._count(text)

    def _piece(self, piece: TextPiece) -> TextPiece:
        lacking = tuple(name for name in piece.lacking if name != self._alias)
        return msgspec.structs.replace(piece, thread=self._renamed(piece.thread), lacking=lacking)

    def _entries(self) -> Iterable[tuple[Any, ...]]:
        for at, entry in enumerate(self._held.quarantine):
            if as_rejected(entry).thread_id == self._alias:
                yield at, msgspec.json.encode({**msgspec.json.decode(entry), "thread_id": self._thread})


def _listed(lists: Iterable[Sequence[Any]]) -> list[Any]:
    """Lists of words as one, behind their number."""
    found = [*lists]
    return [len(found), *(word for words in found for word in words)]
