"""The invariants, read from outside with plain redis-py: nothing of the product is imported here, nothing is believed."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import redis

from fuzz.cold import Row, is_over

_PLACEHOLDER = "could not be observed"
_MARK = re.compile(r"\[[mpsb]-[0-9a-f]+(?:\+\d+)?\]")
_READS: dict[str, tuple[Any, ...]] = {  # how a kind of key is read
    **dict.fromkeys(["tokens", "aliases", "record", "chunk", "known"], ("HGETALL",)),
    **dict.fromkeys(
        ["messages", "sealed", "source", "chunks", "observations", "reflections", "reflected", "archived"],
        ("ZRANGE", 0, -1, "WITHSCORES"),
    ),
    "rejected": ("LRANGE", 0, -1),
}


class BrokenError(AssertionError):
    """An invariant does not hold."""


class Held(NamedTuple):
    """What one resource holds at an instant: kind of key -> rest of its name -> content."""

    keys: dict[str, dict[str, Any]]

    def of(self, kind: str) -> dict[str, Any]:
        """The keys of one kind, by the rest of their names ('' for none)."""
        return self.keys.get(kind, {})

    def stored(self, kind: str, tail: str = "") -> list[dict[str, Any]]:
        """What the members of one key say, in order."""
        return [json.loads(member) for member, _ in self.of(kind).get(tail, [])]

    def everything(self, *kinds: str) -> list[dict[str, Any]]:
        """What the members of all keys of these kinds say."""
        return [each for kind in kinds for tail in self.of(kind) for each in self.stored(kind, tail)]


def read(client: Any, prefix: str) -> dict[str, Held]:
    """Everything under a prefix, by resource, in one look."""
    found: list[tuple[str, str, str, str]] = []
    for key in client.scan_iter(f"{prefix}:{{*", count=10_000):
        name = key.decode()
        resource, _, rest = name[len(prefix) + 2 :].partition("}:")
        kind, _, tail = rest.partition(":")
        if kind in _READS:
            found.append((name, resource, kind, tail))
    pipe = client.pipeline(transaction=not isinstance(client, redis.RedisCluster))  # nobody else acts meanwhile
    for name, _, kind, _ in found:
        word, *options = _READS[kind]
        pipe.execute_command(word, name, *options)
    held: dict[str, Held] = defaultdict(lambda: Held(defaultdict(dict)))
    for (_, resource, kind, tail), reply in zip(found, pipe.execute(), strict=True):
        if reply:
            held[resource].keys[kind][tail] = reply
    return held


def with_archive(found: dict[str, Held], rows: Sequence[Row]) -> dict[str, Held]:
    """The same with what Redis says was archived, in its place; what stands in neither home is lost, what in both is twice.

    Of a thing that is named in some revision the row of that one counts, or the next one above. `rows` of a resource are all that
    the archive holds of it, whoever names them.
    """
    held = defaultdict(lambda: Held(defaultdict(dict)), found)
    for resource, own in found.items():
        for member, mark in own.of("archived").pop("", []):
            name = member.decode()
            some = [row for row in rows if (row.resource, row.name) == (resource, name) and row.revision >= mark]
            if not some:
                raise BrokenError(f"{resource}: {name} was archived, and is LOST: no row of it from revision {mark} on")
            if not is_over(row := min(some, key=lambda row: row.revision)):
                _put(resource, own, row)
    for row in rows:
        held[row.resource].keys["row"][f"{row.name} revision {row.revision}"] = row.members
    return held


def _put(resource: str, own: Held, row: Row):
    kind, _, tail = row.name.partition("|")[0].partition(":")
    standing = own.of(kind).get(tail, [])
    if standing if kind != "reflections" else any(score == row.members[0][1] for _, score in standing):
        raise BrokenError(f"{resource}: {row.name} is there TWICE: in Redis, and in the archive, which Redis names")
    own.keys[kind][tail] = sorted([*standing, *row.members], key=lambda pair: pair[1])


def covering(held: Held) -> tuple[Counter[str], set[str]]:
    """How often each id is covered: raw, sealed, or named by an observation, in force or replaced by a generation.

    And those that an observation names of which no source is kept: they do not count.
    """
    found: Counter[str] = Counter()
    past: set[str] = set()
    for kind in ("messages", "sealed"):
        for members in held.of(kind).values():
            found.update(map(message_id, members))
    for observation in held.everything("observations", "reflected"):
        covers = found if observation["id"] in held.of("source") else past
        covers.update(observation["message_ids"])
    return found, past


def message_id(entry: tuple[bytes, float]) -> str:
    """The id that a member of a raw or sealed set names; those that name none are told apart by their bytes."""
    member, _ = entry
    try:
        return str(json.loads(member)["id"])
    except (ValueError, KeyError, TypeError):
        return f"malformed {member[:40]!r}"


def check_shape(resource: str, held: Held, *, expires: bool = False):
    """Counters equal reality, no set is orphaned, and every text holds the id of every message that it covers.

    `expires`: generations of former times may be over, which only those in an archive ever are.
    """
    _check_tokens(resource, held)
    _check_chunks(resource, held)
    for tail, raw in held.of("record").items():
        record = {name.decode(): value.decode() for name, value in raw.items()}
        if "epoch" in record:
            _check_record(f"{resource} record {tail}", held, tail, record, expires=expires)
    for observation in held.everything("observations", "reflected"):
        _check_traced(resource, held, observation)


def must(where: str, expected: object, actual: object):
    if expected != actual:
        raise BrokenError(f"{where} must be {expected}, it is {actual}")


def silent(held: Held) -> set[str]:
    """The threads that leave no memory."""
    tokens = held.of("tokens").get("", {})
    return {name.decode().removeprefix("*memory:") for name, mode in tokens.items() if mode in {b"off", b"read_only"}}


def _check_tokens(resource: str, held: Held):
    tokens = {name.decode(): value.decode() for name, value in held.of("tokens").get("", {}).items()}
    counted = {name[1:]: int(value) for name, value in tokens.items() if name.startswith("#")}
    raw = held.of("messages")
    for thread, count in counted.items():
        members = raw.get(thread, [])
        if len(members) < count:
            raise BrokenError(f"{resource} {thread}: {count} messages are counted, {len(members)} are there")
        if len(members) == count:
            weight = sum(json.loads(member)["tokens"] for member, _ in members)
            must(f"{resource}: tokens of {thread}", weight, int(tokens[thread]))
    apart = silent(held)
    total = sum(int(value) for name, value in tokens.items() if not name.startswith(("#", "*")) and name not in apart)
    must(f"{resource}: tokens in all", total, int(tokens.get("*", 0)))


def waiting(held: Held) -> set[str]:
    """Threads whose raw set holds members that nobody counted yet."""
    tokens = held.of("tokens").get("", {})
    return {t for t, members in held.of("messages").items() if len(members) != int(tokens.get(b"#" + t.encode(), 0))}


def _check_chunks(resource: str, held: Held):
    listed = Counter(name.decode() for members in held.of("chunks").values() for name, _ in members)
    must(f"{resource}: chunks listed twice", [], [name for name, times in listed.items() if times > 1])
    must(f"{resource}: chunks", sorted(listed), sorted(held.of("chunk")))
    must(f"{resource}: sealed sets", sorted(listed), sorted(held.of("sealed")))
    for name, raw in held.of("chunk").items():
        chunk = {field.decode(): value.decode() for field, value in raw.items()}
        members = held.of("sealed")[name]
        counted = (len(members), sum(json.loads(member)["tokens"] for member, _ in members))
        must(f"{resource}: messages and tokens of {name}", counted, (int(chunk["messages"]), int(chunk["tokens"])))
        must(f"{resource}: chunk {name} ready with its observation", chunk["state"] == "ready", "observation" in chunk)
        if chunk["state"] == "ready":
            observation = json.loads(chunk["observation"])
            ids = sorted(map(message_id, members))
            must(f"{resource}: what chunk {name} covers", ids, sorted(observation["message_ids"]))
            _check_traced(resource, held, observation)


def _check_traced(resource: str, held: Held, observation: dict[str, Any]):
    text = observation["text"]
    lost = [name for name in observation["message_ids"] if f"[{name}]" not in text]
    if lost:  # what is retracted is read by no Observer
        packed = [fields.get(b"@", b"") for fields in held.of("known").values()]
        retracted = {each[at : at + 7] for each in packed for at in range(0, len(each), 8)}
        lost = [name for name in lost if hashlib.sha1(name.encode()).digest()[:7] not in retracted]
    if lost and _PLACEHOLDER not in text:
        raise BrokenError(f"{resource}: observation {observation['id']} covers {lost}, its text does not say so")


def _check_record(where: str, held: Held, tail: str, record: dict[str, str], *, expires: bool):
    chunks = [held.of("chunk")[name.decode()] for name, _ in held.of("chunks").get(tail, [])]
    observations, generations = held.stored("observations", tail), held.stored("reflections", tail)
    counted = {
        "chunk_tokens": sum(int(chunk[b"tokens"]) for chunk in chunks),
        "observation_tokens": sum(each["tokens"] for each in observations),
        "observation_count": len(observations),
    }
    must(f"{where}: counters", counted, {name: int(record.get(name, 0)) for name in counted})
    numbers, in_force = [generation["n"] for generation in generations], int(record.get("generation", 0))
    known = [n for n in range(1, in_force + 1) if not expires or n in numbers or n == in_force]
    must(f"{where}: generations", known, numbers)
    lines = [line.strip() for each in (*observations, *generations[-1:]) for line in each["text"].split("\n")]
    lost = [each["text"] for each in json.loads(record.get("pins") or "[]") if each["text"] not in lines]
    must(f"{where}: pinned lines that stand nowhere", [], lost)
    if generations:
        _check_generation(where, held, tail, generations[-1], observations)


def _check_generation(where, held: Held, tail: str, generation, observations):
    """What generations replaced is in the text of the one in force, but for what was set aside, and nothing is told twice.

    The model of these tests repeats what it is given, once: what is in force by itself is not in the text of a generation too.
    """
    text = generation["text"]
    for n in range(1, generation["n"] + 1):
        name = f"{n}:{tail}" if tail else str(n)
        for said in held.stored("reflected", name):
            lost = [] if said.get("group") else [mark for mark in _MARK.findall(said["text"]) if mark not in text]
            must(f"{where}: what generation {generation['n']} lost of reflected:{name}", [], lost)
    answers = [line for each in observations for line in re.findall(r".* answer \d+$", each["text"], re.MULTILINE)]
    twice = [line for line in answers if line in text.splitlines()]
    must(f"{where}: what generation {generation['n']} tells of observations in force", [], twice)


class Watch:
    """What was seen before and must not change: ready chunks, observations, their order."""

    def __init__(self):
        self._texts: dict[str, dict[str, str]] = defaultdict(dict)
        self._sealed: dict[str, dict[str, float]] = defaultdict(dict)
        self._orders: dict[tuple[str, str], list[str]] = {}
        self._pins: dict[str, set[str]] = defaultdict(set)

    def forget(self, resource: str):
        """An owner removes or moves things here: what was seen before may go."""
        self._texts.pop(resource, None)
        self._sealed.pop(resource, None)
        self._pins.pop(resource, None)
        for key in [key for key in self._orders if key[0] == resource]:
            del self._orders[key]

    def check(self, resource: str, held: Held):
        """No finished observation is lost or changed, and activation only ever appends, each thread in order of sealing."""
        generations = held.of("reflections").items()
        said = {f"generation {n:g} {tail}": json.loads(member)["text"] for tail, ms in generations for member, n in ms}
        for name, chunk in held.of("chunk").items():
            if chunk[b"state"] == b"ready":
                said[name] = json.loads(chunk[b"observation"])["text"]
        said |= {each["id"]: each["text"] for each in held.everything("observations", "reflected")}
        for name, text in self._texts[resource].items():
            if name not in said:
                raise BrokenError(f"{resource}: the finished observation {name} is lost: {text[:80]}")
            must(f"{resource}: observation {name}", text, said[name])
        self._texts[resource] = said
        records = held.of("record").values()
        pins = {each["id"] for record in records for each in json.loads(record.get(b"pins") or b"[]")}
        must(f"{resource}: pins that went", set(), self._pins[resource] - pins)
        self._pins[resource] = pins
        for tail in held.of("observations"):
            self._check_order(resource, tail, held, held.stored("observations", tail))
        self._sealed[resource] = {name.decode(): seq for members in held.of("chunks").values() for name, seq in members}

    def _check_order(self, resource: str, tail: str, held: Held, observations: list[dict[str, Any]]):
        names = [observation["id"] for observation in observations]
        before = [name for name in self._orders.get((resource, tail), []) if name in names]
        must(f"{resource} {tail}: observations, which only grow at their end", before, names[: len(before)])
        self._orders[resource, tail] = names
        left = {name.decode() for name, _ in held.of("chunks").get(tail, [])}
        sealed = self._sealed[resource]  # as the step before this one left them
        for thread in {observation["thread_id"] for observation in observations}:
            own = [o["id"] for o in observations[len(before) :] if o["thread_id"] == thread and o["id"] in sealed]
            waits = [name for name in left & sealed.keys() if held.of("chunk")[name][b"thread"].decode() == thread]
            by_seal = sorted(own + waits, key=lambda name: sealed[name])
            must(f"{resource} {thread}: activated in the order of sealing", by_seal[: len(own)], own)
