"""Where every message is, seen from outside with plain redis-py; and what of that breaks a promise."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import redis

from chaos import plan
from chaos.journal import MARK, Journal, Said, Thread


class Words(NamedTuple):
    """What was said, where, and how late among its thread's messages."""

    where: Thread
    at: float
    said: str


@dataclass
class Held:
    """What a store holds.

    `words`: message id -> what it says, which names it; `places`: name -> the keys it is in; `raw`: names not yet behind an
    observation; `scopes`: kind -> records with a memory; how many generations and observations were ever made of what is there;
    `late`: observations of what came late; `quarantined`: names that a placeholder stands for; `untraced`: name -> in which
    text its mark should stand and does not.
    """

    words: dict[str, Words]
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    raw: set[str] = field(default_factory=set)
    scopes: dict[str, list[str]] = field(default_factory=lambda: {"resource": [], "thread": []})
    generations: int = 0
    observations: int = 0
    late: int = 0
    quarantined: set[str] = field(default_factory=set)
    untraced: dict[str, str] = field(default_factory=dict)


def look(client: redis.Redis, prefix: str, resource: str = "*") -> Held:
    """Read everything, or all of one resource; only what is at rest is read consistently."""
    held, texts = Held(read_words(client, prefix, resource)), {}
    for key in sorted(each.decode() for each in client.scan_iter(f"{prefix}:{{{resource}}}:*", count=1000)):
        owner, _, rest = key.removeprefix(prefix + ":{").partition("}:")
        kind, _, tail = rest.partition(":")
        if kind in {"messages", "sealed"}:
            names = [name_of(held.words, json.loads(member)["id"]) for member in client.zrange(key, 0, -1)]
            held.raw.update(names)
            for name in names:
                held.places[name].append(key)
        elif kind in {"observations", "reflected"}:
            observations = [json.loads(member) for member in client.zrange(key, 0, -1)]
            held.observations += len(observations)
            held.late += len(observations) * owner.startswith(plan.LATE)
            for observation in observations:
                _place(held, key, observation)
        elif kind == "record" and client.hexists(key, "epoch") and not owner.startswith(plan.LATE):
            held.scopes["thread" if tail else "resource"].append(f"{owner}|{tail}")
            held.generations += int(client.hget(key, "generation") or 0)
        elif kind == "reflections" and (newest := client.zrange(key, -1, -1)):
            texts[owner, tail] = json.loads(newest[0])["text"]
    _trace_generations(client, prefix, held, texts)
    return held


def _place(held: Held, key: str, observation: dict[str, Any]) -> None:
    marks = set(MARK.findall(observation["text"]))
    for name in (name_of(held.words, each) for each in observation["message_ids"]):
        held.places[name].append(key)
        if observation["model"] == "placeholder":
            held.quarantined.add(name)
        elif name not in marks:
            held.untraced[name] = f"not in the text of observation {observation['id']} ({key})"


def _trace_generations(client: redis.Redis, prefix: str, held: Held, texts: dict[Thread, str]) -> None:
    """What a generation stands for must be in the text of the one in force, and nothing else that is still observed."""
    for (resource, thread), text in texts.items():
        marks, base = set(MARK.findall(text)), f"{prefix}:{{{resource}}}:"
        tail = f":{thread}" if thread else ""
        force = f"text in force ({base}reflections{tail})"
        for key in client.scan_iter(f"{base}reflected:*", count=1000):
            n, _, of = key.decode().removeprefix(f"{base}reflected:").partition(":")
            if n.isdigit() and of == thread:
                lacking = _names(held, client, key) - marks - held.quarantined
                held.untraced |= dict.fromkeys(lacking, f"reflected by generation {n}, but not in the {force}")
        twice = _names(held, client, f"{base}observations{tail}") & marks
        held.untraced |= dict.fromkeys(twice, f"observed, and in the {force} too")


def read_words(client: redis.Redis, prefix: str, resource: str = "*") -> dict[str, Words]:
    """The words of all messages by their ids, of one resource or of all."""
    found: dict[str, Words] = {}
    for kind in ("messages", "sealed", "source"):
        for key in client.scan_iter(f"{prefix}:{{{resource}}}:{kind}:*", count=1000):
            whose = key.decode().removeprefix(prefix + ":{").partition("}:")[0]
            for member, at in client.zrange(key, 0, -1, withscores=True):
                message = json.loads(member)
                where = whose, str(message.get("thread_id", ""))
                found[message["id"]] = Words(where, at, str(message.get("content", "")))
    return found


def name_of(words: Mapping[str, Words], id_: str) -> str:
    """What a message is called here: the mark in its words, so that it is the same one under any id; else its id."""
    mark = MARK.search(words[id_].said) if id_ in words else None
    return mark[1] if mark else id_


def _names(held: Held, client: redis.Redis, key: str | bytes) -> set[str]:
    ids = (id_ for member in client.zrange(key, 0, -1) for id_ in json.loads(member)["message_ids"])
    return {name_of(held.words, id_) for id_ in ids}


class Verdict(NamedTuple):
    """Wrong messages with what is wrong; how many acknowledged ones are gone, and were cleared; ids held more than once."""

    wrong: list[tuple[str, str]]
    lost: int
    cleared: int
    doubled: int


def judge(held: Held, journal: Journal, *, loses_tail: bool = False, at_rest: bool = False) -> Verdict:
    """Hold what a store holds to what was said. `at_rest`: nothing may be raw any more.

    Where the server lost its tail, what was acknowledged before that may be gone; nothing may ever be there twice. What is a
    whole history's must be there word for word: it was sent again after all that was lost.
    """
    counted = [(said, len(held.places.get(said.name, ()))) for said in journal.said.values()]
    problems = [(said.name, _problem(said, times, journal, loses_tail=loses_tail)) for said, times in counted]
    wrong = [(name, problem) for name, problem in problems if problem]
    kept = [(said, times) for said, times in counted if said.name not in journal.erased]
    gone = [journal.cleared(said) for said, times in kept if not times and said.acknowledged_at]
    doubled = sum(len(keys) > 1 for keys in held.places.values())
    wrong += _wrong_histories(held.words, journal.histories)
    unmarked = {id_ for id_, own in held.words.items() if own.where in journal.histories and not MARK.search(own.said)}
    wrong += [(name, "came from nowhere") for name in held.places if name not in journal.said and name not in unmarked]
    torn = {said.name for said in journal.said.values() if said.resource.startswith(plan.ERASED) and journal.erased}
    wrong += [(name, why) for name, why in held.untraced.items() if name not in unmarked | torn]
    wrong += [(name, "still raw") for name in sorted(held.raw)] if at_rest else []
    return Verdict(wrong, gone.count(False), gone.count(True), doubled)


def _problem(said: Said, times: int, journal: Journal, *, loses_tail: bool) -> str:
    if said.name in journal.erased:
        return "erased, but it is there" if times else ""
    if times > 1:
        return f"held {times} times"
    if times and said.surely_absent:
        return 'every try was answered with "not stored", but it is there'
    may_be_lost = loses_tail and said.tried_at <= journal.kept_since(said.resource, said.thread)
    if not times and said.acknowledged_at and not journal.cleared(said) and not may_be_lost:
        return "acknowledged, but gone"
    return ""


def _wrong_histories(
    words: Mapping[str, Words], histories: Mapping[Thread, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """What of whole histories is not kept exactly once each, in the order in which it was said."""
    for thread, said in histories.items():
        kept = [own.said for own in sorted(words.values(), key=lambda own: own.at) if own.where == thread]
        asked, held = Counter(said), Counter(kept)
        for text in asked | held:
            if asked[text] != held[text]:
                mark = MARK.search(text)
                counted = f"was said {asked[text]} times in {thread}, and is kept {held[text]} times"
                yield mark[1] if mark else "", f"{text!r} {counted}"
        if asked == held and kept != list(said):
            at = next(n for n, (one, other) in enumerate(zip(kept, said, strict=True)) if one != other)
            yield "", f"the history of {thread} is kept in another order from its message {at} on"
