"""What Redis replies, as values: whichever form the client hands it out in."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, cast, get_args

import msgspec

from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.titles import metadata_of
from om_api.domain.messages import Message
from om_api.domain.values import (
    LEAVES_MEMORY,
    Chunk,
    CopiedFrom,
    Generation,
    KeptFields,
    MemoryMode,
    Observation,
    Record,
    Stamped,
    Stored,
    ThreadState,
    to_ms,
)
from om_api.domain.wire import parse_member
from om_api.store.driver.replies import Pair, scored
from om_api.store.memory.keys import WORKING_FIELDS

KEPT = b"*kept"  # of the tokens hash: how often a field was kept by hand
MEMORY = b"*memory:"  # before a thread: its memory mode, in the tokens hash; without it the mode is full
AWAY = b"*away:"  # before a thread: the field of the tokens hash that says that it is archived
_MOST_DIGITS = 18
_parsed: LRU[bytes, Message] = LRU(4_096, most_weight=4_000_000)  # bytes


def unsealed_threads(counts: Mapping[bytes, bytes]) -> dict[str, tuple[int, int]]:
    """From the tokens hash: thread -> (tokens, messages) of what is unsealed."""
    return {
        name[1:].decode(): (int(counts.get(name[1:], 0)), int(count))
        for name, count in counts.items()
        if name.startswith(b"#")
    }


def memory_mode(counts: Mapping[bytes, bytes], thread: str) -> MemoryMode:
    """From the tokens hash: a thread's memory mode. A value that is not a mode counts as full, as in the scripts."""
    mode = counts.get(MEMORY + thread.encode(), b"full").decode("utf-8", "replace")
    return cast("MemoryMode", mode) if mode in get_args(MemoryMode) else "full"


def forgetful_threads(counts: Mapping[bytes, bytes]) -> dict[str, tuple[int, int]]:
    """From the tokens hash: the threads that leave no memory, with (tokens, messages) of what is raw."""
    unsealed = unsealed_threads(counts)
    names = (field.removeprefix(MEMORY).decode() for field in counts if field.startswith(MEMORY))
    return {name: unsealed.get(name, (0, 0)) for name in names if memory_mode(counts, name) not in LEAVES_MEMORY}


def observable_threads(counts: Mapping[bytes, bytes]) -> dict[str, tuple[int, int]]:
    """The same as `unsealed_threads`, without threads that leave no memory."""
    forgetful = forgetful_threads(counts)
    return {name: found for name, found in unsealed_threads(counts).items() if name not in forgetful}


def as_chunk(chunk: str, seq: float, value: Mapping[bytes, bytes]) -> Chunk:
    """A chunk from its hash."""
    return Chunk(
        id=chunk,
        thread=value.get(b"thread", b"").decode(),
        seq=seq,
        tokens=int(value.get(b"tokens", 0)),
        messages=int(value.get(b"messages", 0)),
        ready=value.get(b"state") == b"ready",
        attempts=int(value.get(b"attempts", 0)),
        crashes=int(value.get(b"crashed", 0)),
        sealed_at=int(value.get(b"sealed_at", 0)),
        observation=value.get(b"observation"),
    )


_INTEGERS = (
    *("schema", "generation", "chunk_tokens", "observation_tokens", "observation_count", "reflection_tokens"),
    *("observed_tokens", "observed_messages", "created_at", "observed_at", "reflected_at"),
    *("proposed_at", "proposed_until", "shared_in"),
)


def as_record(value: Mapping[bytes, bytes]) -> Record:
    """A scope's record from its hash."""
    text = {key.decode(): raw.decode() for key, raw in value.items()}
    return Record(
        **{name: int(text[name]) for name in _INTEGERS if name in text},
        epoch=text.get("epoch", ""),
        seq=float(text.get("seq", 0)),
        origin=text.get("origin", "initial"),
        limits=text.get("limits", ""),
        drain=float(text.get("drain", 0)),
        pins=text.get("pins", ""),
        proposed=text.get("proposed", ""),
    )


def as_thread(thread: str, value: Mapping[bytes, bytes], counts: Mapping[bytes, bytes]) -> ThreadState:
    """A thread's state from its hash and the tokens hash."""
    text = {name.decode("utf-8", "replace"): said.decode("utf-8", "replace") for name, said in value.items()}
    return ThreadState(
        id=thread,
        tokens=int(counts.get(thread.encode(), 0)),
        messages=int(counts.get(b"#" + thread.encode(), 0)),
        current_task=text.get("current_task", ""),
        current_task_at=whole_number(text.get("current_task_at", "")),
        current_task_from=text.get("current_task_from", ""),
        suggested_response=text.get("suggested_response", ""),
        suggested_response_at=whole_number(text.get("suggested_response_at", "")),
        suggested_response_from=text.get("suggested_response_from", ""),
        title=text.get("title", ""),
        title_by=text.get("title_by", ""),
        metadata=metadata_of(text.get("metadata", "")),
        archived_at=whole_number(text.get("archived_at", "")),
        last_observed_at=whole_number(text.get("observed_at", "")),
        copied_from=_copied_from(text.get("copied_from", "")),
        model=text.get("model", ""),
        model_before=text.get("model_before", ""),
        model_at=whole_number(text.get("model_at", "")),
        memory=memory_mode(counts, thread),
    )


def _copied_from(text: str) -> CopiedFrom | None:
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(text, type=CopiedFrom) if text else None
    return None


def whole_number(text: str) -> int:
    """A number, such as a time in Unix ms; 0 for any other text, because the hash is open to others."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else 0


def as_stored(reply: Any) -> list[Stored]:
    """Observations with their seq, in order."""
    return [stored_of(pair) for pair in scored(reply)]


def stored_of(pair: Pair) -> Stored:
    """An observation with its seq."""
    member, seq = pair
    return Stored(seq, as_observation(member), member)


# from their JSON; fields we do not know are left where they are
as_observation = msgspec.json.Decoder(Observation).decode
as_generation = msgspec.json.Decoder(Generation).decode


def made_by(chunks: Iterable[Chunk], chosen: Collection[str]) -> Iterator[str]:
    """The spans by which the observations of chosen chunks were stored, "" for none; none is read before it is asked for."""
    made = (chunk.observation for chunk in chunks if chunk.id in chosen and chunk.observation)
    return (as_observation(each).traceparent or "" for each in made)


def messages_of(members: Sequence[Pair], thread: str, resource: str) -> list[Message]:
    """Members with their scores as messages; malformed ones are left out."""
    found = [message_of(pair, thread, resource) for pair in members]
    return [message for message in found if message is not None]


def message_of(pair: Pair, thread: str, resource: str) -> Message | None:
    """A member with its score as a message; None for a malformed one: adoption will reject it and say why."""
    try:
        return parse_member(pair[0], thread, resource, pair[1])
    except InvalidInputError:
        return None


def parsed_once(pair: Pair, thread: str, resource: str) -> Message | None:
    """The same for a worker, which reads a message several times on its way into a chunk and out of it: plain ones parse once.

    They stay in this process until newer ones take their room, erased ones too; nobody is shown them from there.
    """
    member, at = pair
    known = _parsed.get(member)
    if known is None:
        known = message_of((member, 0), "-", "-")
        if known and isinstance(known.content, str) and known.metadata is None:
            _parsed.put(member, known, len(member))
    if known is None:
        return None
    message = copy(known)
    message.thread_id, message.resource_id, message.at = thread, resource, to_ms(at) or 0
    return message


def held_of(said: Sequence[bytes | None], *places: str) -> dict[str, KeptFields]:
    """What these fields say, by place."""
    size = len(WORKING_FIELDS)
    return {place: held(said[at * size : (at + 1) * size]) for at, place in enumerate(places)}


def held(said: Sequence[bytes | None]) -> KeptFields:
    """What the fields of one place say; what cannot be read says nothing, for the hash is open to others."""
    version, value, shown, at, by = said
    if not (version and version.isdigit()):
        return KeptFields()
    when, whose = int(at) if at and at.isdigit() else 0, (by or b"").decode("utf-8", "replace")
    return KeptFields(int(version), stamped_of(value), stamped_of(shown), when, whose)


def stamped_of(text: bytes | None) -> Stamped:
    """Fields with their values and when these were said; none where that cannot be read."""
    try:
        found = msgspec.json.decode(text or b"{}", type=dict[str, tuple[Any, int]])
    except (msgspec.DecodeError, RecursionError):
        return {}
    return {field: [*each] for field, each in found.items()}
