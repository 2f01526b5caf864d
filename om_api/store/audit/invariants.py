"""What must hold of a resource at every instant: each rule looks at one dump and names what breaks it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar, get_args

import msgspec

from om_api.domain import pieces
from om_api.domain.errors import InvalidInputError
from om_api.domain.histories.retraction import marks_of
from om_api.domain.identity import KnownId, mark
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.notes.lineage import covered
from om_api.domain.notes.pins import Notes, pins_of
from om_api.domain.values import MemoryMode, Observation
from om_api.domain.wire import parse_member
from om_api.recall.analysis import VERSION
from om_api.recall.segment import Segment, check_of, is_broken, is_current
from om_api.recall.segment_format import SegmentError
from om_api.store.audit.resource_dump import Members, Part, ResourceDump
from om_api.store.index.indexing import findable
from om_api.store.memory.decoding import as_generation, as_observation
from om_api.store.memory.known import COMPLETE, held_records
from om_api.store.working.working import fault_of

T = TypeVar("T")
_DAY_MS = 86_400_000  # no retention is shorter


class Breach(NamedTuple):
    """Where a promise is broken (a key, or a scope), and what is wrong there."""

    where: str
    what: str


def breaches(held: ResourceDump, count: Callable[[Message], int] | None) -> Iterator[Breach]:
    """Every breach in a dump; `count` weighs members that carry no tokens (None: sets with such are not weighed)."""
    yield from _scope(held)
    yield from _counters(held, count)
    for part in held.parts.values():
        yield from _chunks(held, part, count)
        yield from _totals(held, part)
        yield from _generations(held, part)
        yield from _standing(held, part)
        yield from _set_aside(held, part)
        yield from _pieces(held, part)
        yield from _pins(held, part)
    yield from _lost(held)
    yield from _told_once(held)
    yield from _orphans(held)
    yield from _observations(held)
    yield from _sources(held)
    yield from _segments(held)
    for part in held.parts.values():
        yield from _unindexed(held, part)
    yield from _coverage(held)
    yield from _aliases(held)
    yield from _working(held)


# -- scope and counters ------------------------------------------------------------------------------------------------


def _scope(held: ResourceDump) -> Iterator[Breach]:
    for thread, part in held.parts.items():
        if part.record.get(b"epoch") and held.scope is None:
            yield Breach(held.of.scope, "is missing though a memory exists")
        lives = part.chunks or part.observations or part.reflections
        if lives and held.scope is not None and (held.scope == "thread") != (thread is not None):
            yield Breach(held.of.record(part.scope), f"holds a memory, but the scope in force is {held.scope}")


def observed_threads(held: ResourceDump) -> set[str]:
    """The threads of those observations in force that have messages."""
    noted = (own for part in held.parts.values() for own in decoded(part.observations, as_observation))
    return {own.thread_id for own in noted if own.message_ids and not own.shared_from}


def unlisted_sources(held: ResourceDump) -> dict[str, set[str]]:
    """By thread the observations with messages that are missing in the thread's index."""
    found = defaultdict[str, set[str]](set)
    for own in _kept(held):
        if own.id in held.source and own.id not in held.sources.get(own.thread_id, ({}, 0))[0]:
            found[own.thread_id].add(own.id)
    return found


def _lost(held: ResourceDump) -> Iterator[Breach]:
    """Whole keys that are lost: other keys name them or count their members."""
    observed = observed_threads(held)
    sealed = {value.get(b"thread", b"").decode() for value in held.chunks.values()}
    if (observed or sealed) and not held.tokens:
        yield Breach(held.of.tokens, "is missing though messages were accepted")
    for thread in sorted((observed | sealed) - held.threads.keys()):
        yield Breach(held.of.threads, f"lacks {thread}, of which messages were sealed")
    for thread in sorted(observed - held.states):
        yield Breach(held.of.thread(thread), "is missing though its thread was observed")
    for thread, names in sorted(unlisted_sources(held).items()):
        yield Breach(held.of.sources(thread), f"lacks {min(names)}, of which messages are there")
    for part in held.parts.values():
        counted = (
            ("chunk_tokens", part.chunks, held.of.chunks),
            ("observation_count", part.observations, held.of.observations),
        )
        for field, members, key in counted:
            count = whole(part.record.get(field.encode(), b"0")) or 0
            if not members and count > 0:
                yield Breach(key(part.scope), f"is missing, but the record has {field} {count}")


def _counters(held: ResourceDump, count: Callable[[Message], int] | None) -> Iterator[Breach]:
    counts = {field: whole(value) for field, value in held.tokens.items() if not field.startswith("*")}
    marks = {field: whole(value) for field, value in held.tokens.items() if field.startswith(("*wake", "*dropped"))}
    for field, value in (counts | marks).items():
        if value is None or value < 0:
            yield Breach(held.of.tokens, f"{field} is no count: {held.tokens[field]}")
    threads = {field.removeprefix("#") for field in counts}
    for thread in sorted(threads):
        if (thread in counts) != ("#" + thread in counts):
            yield Breach(held.of.tokens, f"only one of {thread} and #{thread} is there")
        yield from _counter(held, thread, counts.get(thread) or 0, counts.get("#" + thread) or 0, count)
    total = whole(held.tokens.get("*", "0"))
    parts = sum(counts.get(thread) or 0 for thread in threads if held.leaves_memory(thread))
    if total != parts:
        yield Breach(held.of.tokens, f"* is {total}, its threads that leave memory add up to {parts}")
    for field, mode in held.tokens.items():
        if field.startswith("*memory:") and mode not in get_args(MemoryMode):
            yield Breach(held.of.tokens, f"{field} is no memory mode: {mode[:40]!r}; it counts as full")


def _counter(
    held: ResourceDump, thread: str, tokens: int, messages: int, count: Callable[[Message], int] | None
) -> Iterator[Breach]:
    members = held.raw.get(thread, [])
    if messages > len(members):
        yield Breach(held.of.messages(thread), f"holds {len(members)} messages, {messages} are counted")
        return
    sizes = sorted(weights(members, count) or ())
    if len(sizes) != len(members):
        return
    # Members that wait for adoption are not counted yet; whichever they are, their tokens must make up the difference.
    waiting, difference = len(members) - messages, sum(sizes) - tokens
    if not sum(sizes[:waiting]) <= difference <= sum(sizes[len(sizes) - waiting :]):
        yield Breach(
            held.of.tokens,
            f"{thread} is {tokens} for {messages} messages, the members say {sum(sizes)} for {len(sizes)}",
        )


def weights(members: Members, count: Callable[[Message], int] | None) -> list[int] | None:
    """The tokens of each member; None when one cannot be weighed."""
    sizes = list[int]()
    for member, score in members:
        message = _message(member, score)
        if message is None or (message.tokens is None and count is None):
            return None
        sizes.append(count(message) if count and message.tokens is None else count_message(message, len))
    return sizes


def _message(member: bytes, score: float) -> Message | None:
    try:
        return parse_member(member, "-", "-", score)
    except InvalidInputError:
        return None


def whole(text: bytes | str) -> int | None:
    """A number as Redis keeps it; None for anything else."""
    try:
        return int(text)
    except ValueError:
        return None


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return -1


# -- chunks ------------------------------------------------------------------------------------------------------------


def _chunks(held: ResourceDump, part: Part, count: Callable[[Message], int] | None) -> Iterator[Breach]:
    index = held.of.chunks(part.scope)
    for seq in _twice(at for _, at in part.chunks):
        yield Breach(index, f"two chunks have the seq {seq:g}")
    for name, seq in part.chunks:
        chunk = name.decode()
        if seq > _float(part.record.get(b"seq", b"0")):
            yield Breach(index, f"{chunk} has the seq {seq:g}, the record has not drawn it")
        if chunk not in held.chunks:
            yield Breach(held.of.chunk(chunk), "is missing, though the scope's chunks name it")
        elif not held.sealed.get(chunk):
            yield Breach(held.of.sealed(chunk), "is missing or empty: the messages of a chunk are nowhere")
        else:
            yield from _chunk(held, chunk, held.chunks[chunk], seq, count)


def _chunk(
    held: ResourceDump, chunk: str, value: Mapping[bytes, bytes], seq: float, count: Callable[[Message], int] | None
) -> Iterator[Breach]:
    key, members = held.of.chunk(chunk), held.sealed[chunk]
    if _float(value.get(b"seq", b"")) != seq:
        yield Breach(key, f"has another seq than the scope's chunks say ({seq:g})")
    state = value.get(b"state")
    if state not in {b"sealed", b"ready"} or (state == b"ready" and b"observation" not in value):
        yield Breach(key, "is neither sealed nor ready with an observation")
    if whole(value.get(b"messages", b"")) != len(members):
        yield Breach(key, f"says {value.get(b'messages', b'').decode()} messages, its sealed set holds {len(members)}")
    sizes = weights(members, count)
    if sizes is not None and whole(value.get(b"tokens", b"")) != sum(sizes):
        yield Breach(key, f"says {value.get(b'tokens', b'').decode()} tokens, its sealed set weighs {sum(sizes)}")


def _orphans(held: ResourceDump) -> Iterator[Breach]:
    listed = Counter(name.decode() for part in held.parts.values() for name, _ in part.chunks)
    for chunk in held.chunks:
        if not listed[chunk]:
            yield Breach(held.of.chunk(chunk), "is in no scope's chunks")
    for chunk in held.sealed:
        if chunk not in held.chunks and not listed[chunk]:
            yield Breach(held.of.sealed(chunk), "belongs to no chunk: its messages would never be observed")
    for chunk, times in listed.items():
        if times > 1:
            yield Breach(held.of.chunk(chunk), "is in the chunks of two scopes")


# -- records and generations -------------------------------------------------------------------------------------------


def _totals(held: ResourceDump, part: Part) -> Iterator[Breach]:
    chunks = [held.chunks.get(name.decode(), {}) for name, _ in part.chunks]
    found = {
        "chunk_tokens": sum(whole(chunk.get(b"tokens", b"")) or 0 for chunk in chunks),
        "observation_tokens": sum(observation.tokens for observation in decoded(part.observations, as_observation)),
        "observation_count": len(part.observations),
    }
    for field, is_ in found.items():
        says = whole(part.record.get(field.encode(), b"0"))
        if says != is_:
            yield Breach(held.of.record(part.scope), f"{field} is {says}, it must be {is_}")


def _generations(held: ResourceDump, part: Part) -> Iterator[Breach]:
    record, key = held.of.record(part.scope), held.of.reflections(part.scope)
    numbers, current = [int(n) for _, n in part.reflections], whole(part.record.get(b"generation", b"0")) or 0
    if (numbers[-1] if numbers else 0) != current:
        yield Breach(key, f"ends with generation {numbers[-1] if numbers else 0}, the record says {current}")
    if numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
        yield Breach(key, "lacks or doubles a generation above the oldest it keeps")
    says = whole(part.record.get(b"reflection_tokens", b"0"))
    is_ = sum(last.tokens for last in decoded(part.reflections[-1:], as_generation))
    if says != is_:
        yield Breach(record, f"reflection_tokens is {says}, the generation in force has {is_}")


def _standing(held: ResourceDump, part: Part) -> Iterator[Breach]:
    """P1: what the generation in force stands for is not in force beside it, and it stands for all that was replaced."""
    generations = {found.n: found for found in decoded(part.reflections, as_generation)}
    stands = covered(generations, max(generations, default=0))
    for own in decoded(part.observations, as_observation):
        if own.id in stands.ids:
            where = held.of.observations(part.scope)
            yield Breach(where, f"{own.id} is in force, and a generation stands for it too")
    for (n, thread), members in held.reflected.items():
        if stands.whole and thread == part.scope.thread:
            for name in sorted({one.id for one in decoded(members, as_observation)} - stands.ids):
                where = held.of.reflected(part.scope, n)
                yield Breach(where, f"{name} was replaced, and no generation in force stands for it")


def _set_aside(held: ResourceDump, part: Part) -> Iterator[Breach]:
    """What was set aside in groups lives as long as the memory, for no text says what it says; what was condensed expires."""
    made = {each.n: each for each in decoded(part.reflections, as_generation)}
    for (n, thread), members in held.reflected.items():
        lasts = held.lasting.get((n, thread))
        if thread != part.scope.thread or lasts is None:
            continue
        aside, where = any(own.group for own in decoded(members, as_observation)), held.of.reflected(part.scope, n)
        if lasts and not aside:
            yield Breach(where, "has no TTL and would stay for ever")
        if aside and not lasts and n in made and made[n].origin == "archive":
            yield Breach(where, "would expire, and what was set aside in it be lost")


def _pieces(held: ResourceDump, part: Part) -> Iterator[Breach]:
    """Of a text that was moved each piece stands in it once."""
    for generation in decoded(part.reflections[-1:], as_generation):
        for fault in pieces.faults(generation, pooled=part.scope.thread is None):
            yield Breach(held.of.reflections(part.scope), f"generation {generation.n} {fault}")


def _pins(held: ResourceDump, part: Part) -> Iterator[Breach]:
    """A line that is pinned stands in what is read: in the generation in force, or in an observation."""
    where = held.of.record(part.scope)
    try:
        pins = pins_of(part.record.get(b"pins", b""))
    except msgspec.MsgspecError:
        yield Breach(where, "says pins that are none")
        return
    in_force = decoded(part.reflections[-1:], as_generation)
    notes = Notes.of(in_force, decoded(part.observations, as_observation), part.scope)
    for pin in pins:
        if not notes.hold(pin):
            yield Breach(where, f"pins line {pin.id}, which stands nowhere")


def _told_once(held: ResourceDump) -> Iterator[Breach]:
    """What went from a pool to several threads says the same in each of them, or it would come back more than once."""
    met: dict[tuple[str, int], tuple[pieces.Slice, str]] = {}
    for thread, part in held.parts.items():
        key = held.of.reflections(part.scope)
        for lead in decoded(part.reflections[-1:] if thread else [], as_generation):
            for each in pieces.cut(lead, pooled=False):
                first, where = met.setdefault((each.piece.origin, each.piece.at), (each, key))
                if first != each:
                    yield Breach(
                        key, f"holds piece {each.piece.at} of generation {each.piece.origin} otherwise than {where}"
                    )


# -- observations ------------------------------------------------------------------------------------------------------


def decoded(members: Members, decode: Callable[[bytes], T]) -> list[T]:
    """What members say, without those that are nothing of the kind."""
    said = []
    for member, _ in members:
        with suppress(msgspec.DecodeError):
            said.append(decode(member))
    return said


def _kept(held: ResourceDump) -> list[Observation]:
    """Every observation that is still there word for word: in force, or in the history of a generation."""
    sets = [part.observations for part in held.parts.values()] + list(held.reflected.values())
    return [observation for members in sets for observation in decoded(members, as_observation)]


def _observations(held: ResourceDump) -> Iterator[Breach]:
    for part in held.parts.values():
        key = held.of.observations(part.scope)
        for seq in _twice(at for _, at in part.observations):
            yield Breach(key, f"two observations have the seq {seq:g}")
        if any(at > _float(part.record.get(b"seq", b"0")) for _, at in part.observations):
            yield Breach(key, "holds an observation with a seq that the record has not drawn")
        if len(decoded(part.observations, as_observation)) < len(part.observations):
            yield Breach(key, "holds a member that is no observation")
        if len(decoded(part.reflections, as_generation)) < len(part.reflections):
            yield Breach(held.of.reflections(part.scope), "holds a member that is no generation")
    for name in _twice(observation.id for observation in _kept(held)):
        yield Breach(held.of.source(name), "its observation is there twice")
    for name in sorted({observation.id for observation in _kept(held)} & held.chunks.keys()):
        yield Breach(held.of.chunk(name), "is a chunk and an observation at once")


def _sources(held: ResourceDump) -> Iterator[Breach]:
    kept = {observation.id: observation for observation in _kept(held)}
    generations = [one for part in held.parts.values() for one in decoded(part.reflections, as_generation)]
    merged = {name for one in generations for name in (*one.observation_ids, *one.dropped_ids)}
    for name, members in held.source.items():
        if name in kept:
            ids = {message.id for member, at in members if (message := _message(member, at))}
            if ids != set(kept[name].message_ids):
                yield Breach(held.of.source(name), "holds other messages than its observation names")
        elif name not in merged:
            yield Breach(held.of.source(name), "its observation is gone, and no generation covers it")
    for name, observation in kept.items():
        if name not in held.source and _cannot_have_expired(held, observation):
            yield Breach(held.of.source(name), "is missing before its time")


def _cannot_have_expired(held: ResourceDump, observation: Observation) -> bool:
    # The index was given the same lifetime at its last activation; what is younger than that, and than the shortest
    # lifetime there is, must be there.
    index, ttl = held.sources.get(observation.thread_id, ({}, 0))
    at = index.get(observation.id)
    return at is not None and held.now - at < min(_DAY_MS, ttl + held.now - max(index.values()))


# -- what recall finds ---------------------------------------------------------------------------------------------------


def _segments(held: ResourceDump) -> Iterator[Breach]:
    """P10 and P11: an index is of messages that are there, of all of them, and goes when they go."""
    for name, (words, ttl) in held.segments.items():
        ready = held.chunks.get(name, {}).get(b"state") == b"ready"
        members = held.sealed.get(name, []) if ready else held.source.get(name, [])
        key = held.of.segment(name)
        if not members:
            yield Breach(key, "is the index of messages that are not there")
        elif is_broken(words):
            yield Breach(key, "is a broken index: recall reads the messages in its place")
        elif (indexed := _indexed(words)) is not None and len(indexed) != len(members):
            yield Breach(key, f"is the index of {len(indexed)} messages, there are {len(members)}")
        elif indexed not in (None, [check_of(each.id) for each in findable(members, "", held.resource)]):
            yield Breach(key, "is the index of other messages than there are")
        elif not ready and ttl < 0:
            yield Breach(key, "has no TTL, though its messages expire")


def _unindexed(held: ResourceDump, part: Part) -> Iterator[Breach]:
    """What lacks an index in a memory that is said to lack none, so that no sweep looks."""
    if part.record.get(b"indexed") != str(VERSION).encode():
        return
    chunks = (name.decode() for name, _ in part.chunks)
    ready = [name for name in chunks if held.chunks.get(name, {}).get(b"state") == b"ready" and held.sealed.get(name)]
    indexes = (index for thread, (index, _) in held.sources.items() if part.scope.thread in {None, thread})
    for name in (*ready, *(name for index in indexes for name in index if held.source.get(name))):
        words, _ = held.segments.get(name, (b"", 0))
        if not is_current(words) and (not words or not is_broken(words)):
            yield Breach(held.of.segment(name), "is no index of this version: recall reads the messages in its place")


def _indexed(words: bytes) -> list[int] | None:
    """The checks of the messages that it is of; None for one of another version, which nobody reads."""
    with suppress(SegmentError):
        segment = Segment(words)
        return [segment.check(place) for place in range(segment.size)]
    return None


# -- coverage ----------------------------------------------------------------------------------------------------------


def _coverage(held: ResourceDump) -> Iterator[Breach]:
    """P1: no message in two places, and none of one id; and as long as it is kept its id is known."""
    by_id = defaultdict[tuple[str, str], list[str]](list)
    records = {thread: held_records(found) for thread, found in held.known.items()}
    for key, thread, members in places(held):
        names = [message.id for member, at in members if (message := _message(member, at))]
        for name in names:
            by_id[thread, name].append(key)
        if thread and COMPLETE in held.tokens and not thread.startswith("?"):
            known = [(name, records.get(thread, {}).get(mark(name))) for name in names]
            yield from _ids(held, thread, key, known)
    for thread, found in held.known.items():
        if unknown := len(marks_of(found.get(b"@")) - records[thread].keys()):
            yield Breach(held.of.known(thread), f"retracts {unknown} messages whose ids it does not know")
    told = set()
    for (_, name), keys in by_id.items():
        if len(keys) > 1 and tuple(keys) not in told:
            told.add(tuple(keys))
            yield Breach(keys[0], f"holds message {name}, which {keys[1]} holds too")


def _ids(held: ResourceDump, thread: str, key: str, known: Sequence[tuple[str, bytes | None]]) -> Iterator[Breach]:
    """Of what one place keeps each id is known, and as raw or sealed as it is."""
    raw = key == held.of.messages(thread)
    if lacks := sum(record is None for _, record in known):
        yield Breach(held.of.known(thread), f"does not know {lacks} messages of {key}")
    if other := [name for name, record in known if record and (KnownId.of(record).day == 0) != raw]:
        yield Breach(held.of.known(thread), f"knows {other[-1]} as in another place than {key}")


def places(held: ResourceDump) -> Iterator[tuple[str, str, Members]]:
    """Where messages are: key, thread, members. Raw sets with members that wait for adoption may hold copies yet."""
    owners = {name: thread for thread, (index, _) in held.sources.items() for name in index}
    owners |= {observation.id: observation.thread_id for observation in _kept(held)}
    for thread, members in held.raw.items():
        if len(members) == whole(held.tokens.get("#" + thread, "0")):
            yield held.of.messages(thread), thread, members
    for chunk, members in held.sealed.items():
        yield held.of.sealed(chunk), held.chunks.get(chunk, {}).get(b"thread", b"").decode(), members
    for name, members in held.source.items():
        yield held.of.source(name), owners.get(name, f"?{name}"), members


# -- aliases -----------------------------------------------------------------------------------------------------------


def _aliases(held: ResourceDump) -> Iterator[Breach]:
    """An alias holds nothing of its own, and stands for a thread that is none: else what came by it is nowhere to be read."""
    owned = (
        {field.removeprefix("#") for field in held.tokens}
        | {own.thread_id for own in _kept(held)}
        | held.sources.keys()
    )
    owned |= {value.get(b"thread", b"").decode() for value in held.chunks.values()}
    for alias, thread in held.aliases.items():
        if thread in held.aliases:
            yield Breach(held.of.aliases, f"{alias} stands for {thread}, which is an alias itself")
        if alias in owned:  # what a plain writer put there waits for adoption
            yield Breach(
                held.of.aliases, f"{alias} holds messages or observations of its own, which nobody reads there"
            )
    standing = {name: found[b"="].decode() for name, found in held.known.items() if b"=" in found}
    for name in sorted(standing.keys() | held.aliases.keys()):
        if standing.get(name) != held.aliases.get(name) or len(held.known.get(name, ())) > 1:
            yield Breach(
                held.of.known(name), f"is not that of an alias of {held.aliases.get(name, 'none')}, and nothing else"
            )


def _working(held: ResourceDump) -> Iterator[Breach]:
    """Fields of working memories that cannot be read, or that nobody reads because their thread is an alias."""
    for name, text in held.working.items():
        field = name.decode("utf-8", "replace")
        if fault := fault_of(field, text):
            yield Breach(held.of.working, f"field {field[:80]} {fault}")
        elif (thread := field.partition(":")[2]) in held.aliases:
            told = f"nobody reads it: unalias {thread}, and make it an alias again"
            yield Breach(held.of.working, f"field {field[:80]} is an alias' own, and {told}")


def _twice(values: Iterable[T]) -> list[T]:
    return [value for value, times in Counter(values).items() if times > 1]
