"""What the lines of an exported memory become: every line is checked, every total is counted anew from what really came."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.histories.retraction import marks_of_hex
from om_api.domain.kept.extractors import SHARED
from om_api.domain.message_size import check_member
from om_api.domain.message_tokens import Count
from om_api.domain.nesting import check_depth
from om_api.domain.notes.activations import tokens_of_text
from om_api.domain.notes.groups import check_name
from om_api.domain.notes.pins import check_pins
from om_api.domain.values import LEAVES_MEMORY, Chunk, MemoryMode, Observation, Scope, check_id, new_id
from om_api.redaction.placeholders import PLACEHOLDER
from om_api.store.backup import backup_format
from om_api.store.backup.arriving_segments import ArrivingSegments
from om_api.store.backup.backup_format import Line, Text, as_bytes
from om_api.store.backup.staging import Staging
from om_api.store.memory.content import SHARED_IN, TOLD
from om_api.store.memory.decoding import AWAY, MEMORY, as_chunk, as_generation, as_observation, as_record
from om_api.store.memory.keys import ResourceKeys
from om_api.store.memory.known import COMPLETE, arriving, day_of, laid_out, listed
from om_api.store.working import working

_MOST = 2**53  # what a double holds exactly: Redis' scores and Lua's numbers are doubles
_KEY = re.compile(r"[0-9a-f]{32}")
_DIGITS = re.compile(rb"0|-?[1-9][0-9]{0,15}")
_COUNTED = {"observed_tokens", "observed_messages", "tidy_at"}  # what scripts reckon with, of what is not counted anew
_NUMBERS = {"schema", "pool_seq", "created_at", "updated_at", "observed_at", "reflected_at", SHARED_IN}
_JSON_FIELDS = {"metadata", "copied_from", "observation", "limits", "pins"}  # fields of threads, chunks and records
# requests, since when nothing changed, what is indexed; the epoch is a new one
_NOT_TAKEN = ("force", "stirred", "indexed", "proposed", "epoch")


@dataclass
class _Memory:
    """One scope's part of what arrives: its record, and what its totals must be."""

    fields: dict[str, bytes]
    chunk_tokens: int = 0
    observation_tokens: int = 0
    observation_count: int = 0
    generation: int = 0
    reflection_tokens: int = 0
    seq: float = 0

    def record(self) -> dict[str, Any]:
        """Its record, as it will be."""
        totals = {name: value for name, value in vars(self).items() if name not in {"fields", "seq"}}
        return {**self.fields, **totals, "seq": math.ceil(self.seq), "epoch": new_id()}


@dataclass
class ImportValidator:
    """The lines of one memory on their way into a resource's staged keys; what cannot be is an InvalidInputError."""

    staging: Staging
    of: ResourceKeys
    resource: str
    head: backup_format.MemoryLine
    count: Count  # tokens of notes
    threads: Counter[str] = field(default_factory=Counter)  # messages of each that are raw
    totals: Counter[str] = field(default_factory=Counter)
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    _memories: dict[str | None, _Memory] = field(default_factory=dict)
    _chunks: dict[str, Chunk] = field(default_factory=dict)
    _sealed: Counter[str] = field(default_factory=Counter)
    _sources: dict[str, int] = field(default_factory=dict)
    _places: dict[str, tuple[str, int]] = field(default_factory=dict)  # of sources: thread, and when it was activated
    _ids: defaultdict[str, bytearray] = field(default_factory=lambda: defaultdict(bytearray))
    _retracted: dict[str, list[bytes]] = field(default_factory=dict)  # by thread: marks and how each message stood
    _aliases: dict[str, str] = field(default_factory=dict)
    _away: list[str] = field(default_factory=list)
    _modes: dict[str, MemoryMode] = field(default_factory=dict)  # of threads whose memory mode is not full
    _observed: set[str] = field(default_factory=set)
    _segments: ArrivingSegments = field(init=False)

    def __post_init__(self) -> None:
        """Begin with no message."""
        self._segments = ArrivingSegments(self.resource)

    def take(self, line: Line) -> None:
        """Stage what a line holds."""
        try:
            self._place(line)
        except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError) as error:
            raise InvalidInputError(str(error)[:300]) from None

    @singledispatchmethod
    def _place(self, line: Line) -> None:
        raise InvalidInputError(f"a line of the kind {line.__struct_config__.tag} has no place here")

    # -- memories ------------------------------------------------------------------------------------------------------

    def _scope(self, memory: str | None) -> Scope:
        if self.head.scope is None or (memory is None) != (self.head.scope == "resource"):
            raise InvalidInputError(f"memory is {memory}, which cannot be in scope {self.head.scope}")
        return Scope(self.resource, None if memory is None else check_id(memory, "memory"))

    @_place.register
    def _record(self, line: backup_format.RecordLine) -> None:
        self._scope(line.memory)
        fields = {name: value for name, value in _fields(line.fields).items() if not name.startswith(_NOT_TAKEN)}
        seq = as_record({name.encode(): value for name, value in fields.items()}).seq
        _reckoned(fields, *_COUNTED & fields.keys(), least=-_MOST)  # a retry takes away what others counted
        _reckoned(fields, *_NUMBERS & fields.keys())
        for name, value in fields.items():
            if name == "drain" or name.startswith(TOLD):
                _below_most(float(value), name)
        check_pins(fields.get("pins", b""))
        if line.memory in self._memories:
            raise InvalidInputError(f"the record of the memory {line.memory} is there twice")
        self._memories[line.memory] = _Memory(fields, seq=_below_most(seq))

    def _of(self, memory: str | None, seq: float) -> tuple[Scope, _Memory]:
        scope, found = self._scope(memory), self._memories.get(memory)
        if found is None:
            raise InvalidInputError(f"the record of the memory {memory} must come before this")
        found.seq = max(found.seq, _below_most(seq))
        return scope, found

    @_place.register
    def _generation(self, line: backup_format.GenerationLine) -> None:
        scope, memory = self._of(line.memory, 0)
        member = _json(line.generation)
        generation = as_generation(member)
        if generation.n != line.n or not memory.generation < line.n < _MOST:
            raise InvalidInputError(f"generation {line.n} must be of that number, and above the one before")
        _whole(generation.tokens, "tokens")
        tokens = self.count(generation.text)
        memory.generation, memory.reflection_tokens = line.n, tokens
        if tokens != generation.tokens:
            member = _changed(member, {"tokens": tokens})
        self.staging.put(self.of.reflections(scope), line.n, member)
        self.totals["generations"] += 1

    @_place.register
    def _observation(self, line: backup_format.ObservationLine) -> None:
        scope, memory = self._of(line.memory, line.seq)
        member = _json(line.observation)
        observation = as_observation(member)
        self._once(check_id(observation.id, "observation"))
        check_id(observation.thread_id, "thread_id")
        if observation.group:
            check_name(observation.group)
        if observation.shared_from and self.head.resource != self.resource:  # its source shared it with another memory
            member = msgspec.json.encode(msgspec.structs.replace(observation, shared_from=None))
        member, tokens = self._checked(member, observation)
        if line.replaced_by is not None:
            if not 0 < line.replaced_by <= memory.generation:
                raise InvalidInputError(
                    f"replaced_by is {line.replaced_by}, and the generations end with {memory.generation}"
                )
            history = self.of.reflected(scope, line.replaced_by)
            self.staging.put(history, line.seq, member, 0 if line.expires_at is None else _end(line.expires_at))
            return
        memory.observation_tokens += tokens
        memory.observation_count += 1
        self.staging.put(self.of.observations(scope), line.seq, member)
        self.totals["observations"] += 1

    def _checked(self, member: bytes, observation: Observation) -> tuple[bytes, int]:
        """An observation with the tokens that its text has, whatever the file says, and this number.

        The section that workers share with other memories is left out: it was shared where it was made, or not.
        """
        _whole(observation.tokens, "tokens")
        changes: dict[str, Any] = tokens_of_text(observation, observation.text, self.count)
        tokens = changes["tokens"]
        if SHARED in observation.extracted:
            changes["extracted"] = {name: found for name, found in observation.extracted.items() if name != SHARED}
        stored = as_observation(member)
        if any(getattr(stored, name) != value for name, value in changes.items()):
            member = _changed(member, changes)
        return member, tokens

    def _once(self, name: str) -> None:
        if name in self._observed:
            raise InvalidInputError(f"{name} is there twice")
        self._observed.add(name)

    @_place.register
    def _chunk(self, line: backup_format.ChunkLine) -> None:
        fields = _fields(line.fields)
        name = check_id(line.chunk, "chunk")
        chunk = as_chunk(name, float(fields.get("seq", b"")), {key.encode(): v for key, v in fields.items()})
        scope, memory = self._of(line.memory, chunk.seq)
        check_id(chunk.thread, "thread")
        state = fields.get("state", b"").decode()
        if state not in {"sealed", "ready"} or (chunk.ready and as_observation(chunk.observation or b"").id != name):
            raise InvalidInputError(f"chunk {name} is neither sealed nor ready with its observation")
        _reckoned(fields, "tokens", "messages", "attempts", *{"crashed"} & fields.keys())
        if chunk.ready and chunk.observation:
            made = msgspec.structs.replace(as_observation(chunk.observation), wrapper_tokens=0)  # it is not in force
            fields["observation"], _ = self._checked(chunk.observation, made)
        self._once(name)
        self._chunks[name] = chunk
        memory.chunk_tokens += _whole(chunk.tokens, "tokens")
        self.staging.fill(self.of.chunk(name), fields)
        self.staging.put(self.of.chunks(scope), chunk.seq, name.encode())

    # -- threads and messages ------------------------------------------------------------------------------------------

    @_place.register
    def _thread(self, line: backup_format.ThreadLine) -> None:
        if line.thread in self._counts:
            raise InvalidInputError(f"thread {line.thread} is there twice")
        thread = check_id(line.thread, "thread")
        self._counts[thread] = _whole(line.messages, "messages"), _whole(line.tokens, "tokens")
        if line.at is not None:
            self.staging.put(self.of.threads, _number(line.at, "at"), thread.encode())
        self._retracted[thread] = marks_of_hex(line.retracted)
        fields = _fields(line.fields)
        if fields.get("archived_at"):
            self._away.append(AWAY.decode() + thread)
        if line.memory != "full":
            self._modes[thread] = line.memory
        self.staging.fill(self.of.thread(thread), fields)

    @_place.register
    def _source(self, line: backup_format.SourceLine) -> None:
        name, until = check_id(line.observation, "observation"), _end(line.expires_at)
        if name in self._sources:
            raise InvalidInputError(f"the source of {name} is there twice")
        self._sources[name] = until
        if line.thread:
            self._places[name] = line.thread, line.activated_at
            index = self.of.sources(check_id(line.thread, "thread"))
            self.staging.put(index, _whole(line.activated_at, "activated_at"), name.encode(), until)

    @_place.register
    def _message(self, line: backup_format.MessageLine) -> None:
        member, score = as_bytes(line.message), _number(line.score, "score")
        check_member(member)
        if line.thread is None:  # in a thread it waits for adoption, which rejects it
            check_depth(member)
        if [line.thread, line.chunk, line.observation].count(None) != len(("thread", "chunk", "observation")) - 1:
            raise InvalidInputError("a message is in a thread, in a chunk, or behind an observation")
        if line.thread is not None:
            self.threads[_known(line.thread, self._counts)] += 1
            self._know(line.thread, member)
            self.staging.put(self.of.messages(line.thread), score, member)
        elif line.chunk is not None:
            self._sealed[_known(line.chunk, self._chunks)] += 1
            chunk = self._chunks[line.chunk]
            self._know(chunk.thread, member, chunk.sealed_at)
            self.staging.put(self.of.sealed(line.chunk), score, member)
            if chunk.ready:
                self._segments.take(line.chunk, chunk.thread, (member, score))
        elif line.observation is not None:
            until = self._sources[_known(line.observation, self._sources)]
            if place := self._places.get(line.observation):
                self._know(place[0], member, place[1])
                self._segments.take(line.observation, place[0], (member, score), until)
            self.staging.put(self.of.source(line.observation), score, member, until)

    @_place.register
    def _alias(self, line: backup_format.AliasLine) -> None:
        alias, thread = check_id(line.alias, "alias"), check_id(line.thread, "thread")
        if alias in self._aliases:
            raise InvalidInputError(f"alias {alias} is there twice")
        self._aliases[alias] = thread
        self.staging.fill(self.of.known(alias), {"=": thread})

    @_place.register
    def _rejected(self, line: backup_format.RejectedLine) -> None:
        self.staging.append(self.of.rejected, as_bytes(line.entry))

    @_place.register
    def _working(self, line: backup_format.WorkingLine) -> None:
        self.staging.fill(
            self.of.working, working.checked({name: as_bytes(text) for name, text in line.fields.items()})
        )

    @_place.register
    def _redacted(self, line: backup_format.RedactedLine) -> None:
        if wrong := next((name for name in line.fields if not PLACEHOLDER.fullmatch(f"[{name}]")), None):
            raise InvalidInputError(f"{wrong[:80]!r} is no placeholder")
        self.staging.fill(self.of.redacted, _fields(line.fields))

    @_place.register
    def _seen(self, line: backup_format.SeenLine) -> None:
        """Nothing: which ids are known, the messages say."""

    def _know(self, thread: str, member: bytes, at: int | None = None) -> None:
        """Have a thread know the id of a message that arrives, and on which day it was sealed."""
        self._ids[thread] += arriving(member, 0 if at is None else day_of(at))

    # -- the end -------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Stage what only the end tells: the scope, records and counters."""
        for name, chunk in self._chunks.items():
            if self._sealed[name] != chunk.messages or not chunk.messages:
                raise InvalidInputError(f"chunk {name} says {chunk.messages} messages, {self._sealed[name]} came")
        self._check_aliases()
        if self.head.scope is not None:
            self.staging.write(self.of.scope, self.head.scope)
        for memory, found in self._memories.items():
            self.staging.fill(self.of.record(self._scope(memory)), found.record())
        self.staging.fill(self.of.tokens, self._tokens())
        for thread, ids in self._ids.items():
            if thread in self._aliases:  # what waits there for adoption is another one's
                continue
            activated = sorted(at for own, at in self._places.values() if own == thread)
            known = laid_out(ids, {day_of(at): at for at in activated})
            there = {record[:7] for record in listed(ids)}
            if retracted := b"".join(each for each in self._retracted.get(thread, ()) if each[:7] in there):
                known["@"] = retracted
            self.staging.fill(self.of.known(thread), known)
        for made in self._segments.all():
            self.staging.write(self.of.segment(made.chunk), made.words, made.until)
        self.totals["threads"] = len(self._counts)
        self.totals["messages"] = self.threads.total() + self._sealed.total()
        self.totals["sources"] = len(self._sources)

    def _check_aliases(self) -> None:
        """See that no alias is a thread, or stands for another one."""
        own = {thread for thread, (messages, _) in self._counts.items() if messages}
        own |= {chunk.thread for chunk in self._chunks.values()} | {thread for thread, _ in self._places.values()}
        for alias, thread in self._aliases.items():
            if alias in own or thread in self._aliases:
                what = "holds something of its own" if alias in own else f"stands for {thread}, which is one too"
                raise InvalidInputError(f"alias {alias} {what}")
        if self._aliases:
            self.staging.fill(self.of.aliases, self._aliases)

    def _tokens(self) -> dict[str, Any]:
        counted: dict[str, Any] = {}
        for thread, (messages, tokens) in self._counts.items():
            if messages > self.threads[thread]:
                raise InvalidInputError(f"thread {thread} says {messages} messages, {self.threads[thread]} came")
            if messages:
                counted |= {thread: tokens, f"#{thread}": messages}
        observable = {name for name in self._counts if self._modes.get(name, "full") in LEAVES_MEMORY}
        total = sum(tokens for name, (messages, tokens) in self._counts.items() if messages and name in observable)
        away = dict.fromkeys(self._away, 1)
        modes = {MEMORY.decode() + name: mode for name, mode in self._modes.items()}
        return {**counted, **({"*": total} if counted else {}), **away, **modes, COMPLETE: 1, **self._marks()}

    def _marks(self) -> dict[str, Any]:
        key = self.head.signing_key
        if key and not _KEY.fullmatch(key):
            raise InvalidInputError("signing_key is none: 32 hexadecimal digits, or leave it out")
        return {**({"*key": key} if key else {}), **({"*paused": 1} if self.head.paused else {})}

    def scopes(self) -> list[Scope]:
        """What the workers must look at."""
        apart = [memory for memory in {*self._memories, *self._counts} if memory is not None]
        whole = self.head.scope != "thread"
        return [Scope(self.resource)] if whole else [Scope(self.resource, name) for name in sorted(apart)]

    def unadopted(self) -> list[str]:
        """The messages keys that hold members nobody counted."""
        return [self.of.messages(t) for t, (messages, _) in self._counts.items() if self.threads[t] > messages]


def _known(name: str, places: Mapping[str, object]) -> str:
    if name not in places:
        raise InvalidInputError(f"the line of {name[:200]} must come before this")
    return name


def _fields(held: Mapping[str, Text]) -> dict[str, bytes]:
    return {name: _json(value) if name in _JSON_FIELDS else as_bytes(value) for name, value in held.items()}


def _json(text: Text) -> bytes:
    """A text of JSON; raises InvalidInputError for one that nests too deep."""
    written = as_bytes(text)
    check_depth(written)
    return written


def _number(value: float, name: str) -> float:
    if not math.isfinite(value):
        raise InvalidInputError(f"{name} is no number")
    return value


def _changed(member: bytes, fields: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({**msgspec.json.decode(member), **fields})


def _below_most(value: float, name: str = "seq") -> float:
    if not abs(value) < _MOST:
        raise InvalidInputError(f"{name[:200]} must be a number below {_MOST:,}")
    return value


def _reckoned(fields: Mapping[str, bytes], *names: str, least: int = 0) -> None:
    """See that scripts can reckon with these: one that stumbles half-way takes back nothing of what it wrote before."""
    for name in names:
        text = fields.get(name, b"")
        if not _DIGITS.fullmatch(text) or not least <= int(text) < _MOST:
            raise InvalidInputError(f"{name} must be a whole number in digits, from {least:,} to {_MOST - 1:,}")


def _whole(value: int, name: str) -> int:
    if not 0 <= value < _MOST:
        raise InvalidInputError(f"{name} must be a whole number from 0 to {_MOST - 1:,}")
    return value


def _end(until: int) -> int:
    """When a key expires; 0 would be never."""
    return max(1, _whole(until, "expires_at"))
