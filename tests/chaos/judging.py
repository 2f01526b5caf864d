"""Where every message is, seen from outside with plain redis-py; and what of that breaks a promise."""

import json
from collections import defaultdict
from typing import Any, NamedTuple

import redis

from chaos import plan, words
from chaos.journal import Journal, Said
from chaos.words import MARK, Words, name_of

_PLACEHOLDER = "placeholder"


class Held(NamedTuple):
    """What a store holds.

    `words`: message id -> what it says, which names it; `places`: name -> the keys it is in; `raw`: names not yet behind an
    observation; `scopes`: kind -> records with a memory; how many generations and observations were ever made of what is there;
    `quarantined`: names that a placeholder stands for; `untraced`: name -> in which text its mark should stand and does not;
    `late`: observations of what came late.
    """

    words: dict[str, Words]
    places: dict[str, list[str]]
    raw: set[str]
    scopes: dict[str, list[str]]
    generations: int
    observations: int
    quarantined: set[str]
    untraced: dict[str, str]
    late: int = 0


def look(client: redis.Redis, prefix: str) -> Held:
    """Read everything; only what is at rest is read consistently."""
    held = Held(words.read(client, prefix), defaultdict(list), set(), {"resource": [], "thread": []}, 0, 0, set(), {})
    generations, observations, late, texts = 0, 0, 0, {}
    for key in sorted(client.scan_iter(f"{prefix}:{{*", count=1000)):
        resource, _, rest = key.decode().removeprefix(prefix + ":{").partition("}:")
        kind, _, tail = rest.partition(":")
        if kind in {"messages", "sealed"}:
            _raw(held, key.decode(), client.zrange(key, 0, -1))
        elif kind in {"observations", "reflected"}:
            made = _observed(held, key.decode(), client.zrange(key, 0, -1))
            observations, late = observations + made, late + made * resource.startswith(plan.LATE)
        elif kind == "record" and client.hexists(key, "epoch") and not resource.startswith(plan.LATE):
            held.scopes["thread" if tail else "resource"].append(f"{resource}|{tail}")
            generations += int(client.hget(key, "generation") or 0)
        elif kind == "reflections":
            texts[resource, tail] = json.loads(client.zrange(key, -1, -1)[0])["text"]
    _trace_generations(client, prefix, held, texts)
    return held._replace(generations=generations, observations=observations, late=late)


def _raw(held: Held, key: str, members: list[bytes]) -> None:
    for member in members:
        name = name_of(held.words, json.loads(member)["id"])
        held.places[name].append(key)
        held.raw.add(name)


def _observed(held: Held, key: str, members: list[bytes]) -> int:
    for member in members:
        observation = json.loads(member)
        marks = set(MARK.findall(observation["text"]))
        for name in (name_of(held.words, each) for each in observation["message_ids"]):
            held.places[name].append(key)
            if observation["model"] == _PLACEHOLDER:
                held.quarantined.add(name)
            elif name not in marks:
                held.untraced[name] = f"not in the text of observation {observation['id']} ({key})"
    return len(members)


def _trace_generations(client: redis.Redis, prefix: str, held: Held, texts: dict[Any, str]) -> None:
    """What a generation stands for must be in the text of the one in force, and nothing else that is still observed."""
    for (resource, thread), text in texts.items():
        marks, base = set(MARK.findall(text)), f"{prefix}:{{{resource}}}:"
        tail = f":{thread}" if thread else ""
        for key in client.scan_iter(f"{base}reflected:*", count=1000):
            n, _, of = key.decode().removeprefix(f"{base}reflected:").partition(":")
            if n.isdigit() and of == thread:
                for name in _names(held, client, key) - marks - held.quarantined:
                    held.untraced[name] = (
                        f"reflected by generation {n}, but not in the text in force ({base}reflections{tail})"
                    )
        for name in _names(held, client, f"{base}observations{tail}") & marks:
            held.untraced[name] = f"observed, and in the text in force too ({base}reflections{tail})"


def _names(held: Held, client: redis.Redis, key: str | bytes) -> set[str]:
    ids = (id_ for member in client.zrange(key, 0, -1) for id_ in json.loads(member)["message_ids"])
    return {name_of(held.words, id_) for id_ in ids}


def quarantined(client: redis.Redis, prefix: str, resource: str) -> set[str]:
    """The names of a resource's messages that a placeholder stands for."""
    found: set[str] = set()
    said = words.read(client, prefix, resource)
    for key in client.scan_iter(f"{prefix}:{{{resource}}}:*", count=1000):
        if b"}:observations" in key or b"}:reflected:" in key:
            observations = [json.loads(member) for member in client.zrange(key, 0, -1)]
            ids = {id_ for o in observations if o["model"] == _PLACEHOLDER for id_ in o["message_ids"]}
            found |= {name_of(said, id_) for id_ in ids}
    return found


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
    wrong += words.wrong(held.words, journal.histories)
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
