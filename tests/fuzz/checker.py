"""The invariants, read from outside with plain redis-py: nothing of the product is imported here, nothing is believed."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from fuzz.cold import Row, is_over

_PLACEHOLDER = "could not be observed"
_TYPES = {
    "tokens": "hash",
    "aliases": "hash",
    "record": "hash",
    "chunk": "hash",
    "messages": "zset",
    "sealed": "zset",
    "source": "zset",
    "chunks": "zset",
    "observations": "zset",
    "reflections": "zset",
    "reflected": "zset",
    "rejected": "list",
    "archived": "zset",
}
_READS = {"hash": ("HGETALL",), "zset": ("ZRANGE", 0, -1, "WITHSCORES"), "list": ("LRANGE", 0, -1)}


class BrokenError(AssertionError):
    """An invariant does not hold."""


class Held(NamedTuple):
    """What one resource holds at an instant: kind of key -> rest of its name -> content."""

    keys: dict[str, dict[str, Any]]

    def of(self, kind: str) -> dict[str, Any]:
        """The keys of one kind, by the rest of their names ('' for none)."""
        return self.keys.get(kind, {})


def read(client: Any, prefix: str) -> dict[str, Held]:
    """Everything under a prefix, by resource, in one look."""
    found: list[tuple[str, str, str, str]] = []
    for key in client.scan_iter(f"{prefix}:{{*", count=10_000):
        name = key.decode()
        resource, _, rest = name[len(prefix) + 2 :].partition("}:")
        kind, _, tail = rest.partition(":")
        if kind in _TYPES:
            found.append((name, resource, kind, tail))
    pipe = client.pipeline(transaction=True)
    for name, _, kind, _ in found:
        word, *options = _READS[_TYPES[kind]]
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


def _put(resource: str, own: Held, row: Row) -> None:
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
    for kind in ("observations", "reflected"):
        for members in held.of(kind).values():
            for member, _ in members:
                observation = json.loads(member)
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


def check_shape(resource: str, held: Held, *, expires: bool = False) -> None:
    """Counters equal reality, no set is orphaned, and every text holds the id of every message that it covers.

    `expires`: generations of former times may be over, which only those in an archive ever are.
    """
    _check_tokens(resource, held)
    _check_chunks(resource, held)
    for tail, raw in held.of("record").items():
        record = {name.decode(): value.decode() for name, value in raw.items()}
        if "epoch" in record:
            _check_record(f"{resource} record {tail}", held, tail, record, expires=expires)
    for kind in ("observations", "reflected"):
        for members in held.of(kind).values():
            for member, _ in members:
                _check_traced(resource, json.loads(member))


def _must(resource: str, what: str, expected: object, actual: object) -> None:
    if expected != actual:
        raise BrokenError(f"{resource}: {what} must be {expected}, it is {actual}")


def _check_tokens(resource: str, held: Held) -> None:
    tokens = {name.decode(): value.decode() for name, value in held.of("tokens").get("", {}).items()}
    counted = {name[1:]: int(value) for name, value in tokens.items() if name.startswith("#")}
    raw = held.of("messages")
    for thread, count in counted.items():
        members = raw.get(thread, [])
        if len(members) < count:
            raise BrokenError(f"{resource} {thread}: {count} messages are counted, {len(members)} are there")
        if len(members) == count:
            weight = sum(json.loads(member)["tokens"] for member, _ in members)
            _must(resource, f"tokens of {thread}", weight, int(tokens[thread]))
    total = sum(int(value) for name, value in tokens.items() if not name.startswith(("#", "*")))
    _must(resource, "tokens in all", total, int(tokens.get("*", 0)))


def waiting(held: Held) -> set[str]:
    """Threads whose raw set holds members that nobody counted yet."""
    tokens = held.of("tokens").get("", {})
    return {t for t, members in held.of("messages").items() if len(members) != int(tokens.get(b"#" + t.encode(), 0))}


def _check_chunks(resource: str, held: Held) -> None:
    listed = Counter(name.decode() for members in held.of("chunks").values() for name, _ in members)
    _must(resource, "chunks listed twice", [], [name for name, times in listed.items() if times > 1])
    _must(resource, "chunks", sorted(listed), sorted(held.of("chunk")))
    _must(resource, "sealed sets", sorted(listed), sorted(held.of("sealed")))
    for name, raw in held.of("chunk").items():
        chunk = {field.decode(): value.decode() for field, value in raw.items()}
        members = held.of("sealed")[name]
        _must(resource, f"messages of chunk {name}", len(members), int(chunk["messages"]))
        _must(
            resource, f"tokens of chunk {name}", sum(json.loads(m)["tokens"] for m, _ in members), int(chunk["tokens"])
        )
        _must(resource, f"chunk {name} ready with its observation", chunk["state"] == "ready", "observation" in chunk)
        if chunk["state"] == "ready":
            observation = json.loads(chunk["observation"])
            _must(
                resource,
                f"what chunk {name} covers",
                sorted(map(message_id, members)),
                sorted(observation["message_ids"]),
            )
            _check_traced(resource, observation)


def _check_traced(resource: str, observation: dict[str, Any]) -> None:
    text = observation["text"]
    lost = [name for name in observation["message_ids"] if f"[{name}]" not in text]
    if lost and _PLACEHOLDER not in text:
        raise BrokenError(f"{resource}: observation {observation['id']} covers {lost}, its text does not say so")


def _check_record(where: str, held: Held, tail: str, record: dict[str, str], *, expires: bool) -> None:
    chunks = [held.of("chunk")[name.decode()] for name, _ in held.of("chunks").get(tail, [])]
    observations = [json.loads(member) for member, _ in held.of("observations").get(tail, [])]
    _must(where, "chunk_tokens", sum(int(c[b"tokens"]) for c in chunks), int(record.get("chunk_tokens", 0)))
    _must(where, "observation_tokens", sum(o["tokens"] for o in observations), int(record.get("observation_tokens", 0)))
    _must(where, "observation_count", len(observations), int(record.get("observation_count", 0)))
    generations = [json.loads(member) for member, _ in held.of("reflections").get(tail, [])]
    numbers, in_force = [generation["n"] for generation in generations], int(record.get("generation", 0))
    known = [n for n in range(1, in_force + 1) if not expires or n in numbers or n == in_force]
    _must(where, "generations", known, numbers)
    _check_pins(where, record, observations, generations)
    if generations:
        _check_generation(where, held, tail, generations[-1])
        _check_told_once(where, observations, generations[-1])


def _pins(record: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(record.get("pins") or "[]")
    return found


def _check_pins(
    where: str, record: dict[str, str], observations: list[dict[str, Any]], generations: list[dict[str, Any]]
) -> None:
    """What is pinned stands in what is read, word for word, once or more."""
    lines = [line.strip() for each in (*observations, *generations[-1:]) for line in each["text"].split("\n")]
    lost = [each["text"] for each in _pins(record) if each["text"] not in lines]
    _must(where, "pinned lines that stand nowhere", [], lost)


def _check_generation(where: str, held: Held, tail: str, generation: dict[str, Any]) -> None:
    """What generations replaced is in the text of the one in force: the model of these tests repeats what it is given.

    What was set aside stays word for word, and need not be there.
    """
    for n in range(1, generation["n"] + 1):
        name = f"{n}:{tail}" if tail else str(n)
        for member, _ in held.of("reflected").get(name, []):
            said = json.loads(member)
            if said.get("group"):
                continue
            lost = [line for line in _marks(said["text"]) if line not in generation["text"]]
            _must(where, f"what generation {generation['n']} lost of reflected:{name}", [], lost)


def _check_told_once(where: str, observations: list[dict[str, Any]], generation: dict[str, Any]) -> None:
    """What is in force by itself is not in the text of a generation too: the model of these tests says nothing twice."""
    told = set(generation["text"].splitlines())
    twice = [
        line
        for each in observations
        for line in re.findall(r".* answer \d+$", each["text"], re.MULTILINE)
        if line in told
    ]
    _must(where, f"what generation {generation['n']} tells of observations in force", [], twice)


def _marks(text: str) -> list[str]:
    return re.findall(r"\[[mpsb]-[0-9a-f]+(?:\+\d+)?\]", text)


def _generations(held: Held) -> dict[str, str]:
    found = held.of("reflections").items()
    return {f"generation {n:g} {tail}": json.loads(member)["text"] for tail, members in found for member, n in members}


class Watch:
    """What was seen before and must not change: ready chunks, observations, their order."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, str]] = defaultdict(dict)
        self._sealed: dict[str, dict[str, float]] = defaultdict(dict)
        self._orders: dict[tuple[str, str], list[str]] = {}
        self._pins: dict[str, set[str]] = defaultdict(set)

    def forget(self, resource: str) -> None:
        """An owner removes or moves things here: what was seen before may go."""
        self._texts.pop(resource, None)
        self._sealed.pop(resource, None)
        self._pins.pop(resource, None)
        for key in [key for key in self._orders if key[0] == resource]:
            del self._orders[key]

    def check(self, resource: str, held: Held) -> None:
        """No finished observation is lost or changed, and activation only ever appends, each thread in order of sealing."""
        said = _generations(held)
        for name, chunk in held.of("chunk").items():
            if chunk[b"state"] == b"ready":
                said[name] = json.loads(chunk[b"observation"])["text"]
        for kind in ("observations", "reflected"):
            for members in held.of(kind).values():
                for member, _ in members:
                    observation = json.loads(member)
                    said[observation["id"]] = observation["text"]
        for name, text in self._texts[resource].items():
            if name not in said:
                raise BrokenError(f"{resource}: the finished observation {name} is lost: {text[:80]}")
            _must(resource, f"observation {name}", text, said[name])
        self._texts[resource] = said
        records = held.of("record").values()
        pins = {each["id"] for record in records for each in json.loads(record.get(b"pins") or b"[]")}
        _must(resource, "pins that went", set(), self._pins[resource] - pins)
        self._pins[resource] = pins
        for tail, members in held.of("observations").items():
            self._check_order(resource, tail, held, [json.loads(member) for member, _ in members])
        self._sealed[resource] = {name.decode(): seq for members in held.of("chunks").values() for name, seq in members}

    def _check_order(self, resource: str, tail: str, held: Held, observations: list[dict[str, Any]]) -> None:
        names = [observation["id"] for observation in observations]
        before = [name for name in self._orders.get((resource, tail), []) if name in names]
        _must(f"{resource} {tail}", "observations, which only grow at their end", before, names[: len(before)])
        self._orders[resource, tail] = names
        left = {name.decode() for name, _ in held.of("chunks").get(tail, [])}
        sealed = self._sealed[resource]  # as the step before this one left them
        for thread in {observation["thread_id"] for observation in observations}:
            own = [o["id"] for o in observations[len(before) :] if o["thread_id"] == thread and o["id"] in sealed]
            waits = [name for name in left & sealed.keys() if held.of("chunk")[name][b"thread"].decode() == thread]
            by_seal = sorted(own + waits, key=lambda name: sealed[name])
            _must(f"{resource} {thread}", "activated in the order of sealing", by_seal[: len(own)], own)
