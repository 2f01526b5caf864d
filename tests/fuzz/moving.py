"""A memory that moves to the other scope and back: it is as it was, and what several threads were given comes back once."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from fuzz import agents, owners, workers
from fuzz.checker import BrokenError, Held
from fuzz.game import Game

_BETWEEN = (
    *(agents.push_batch, workers.seal, workers.observe, workers.activate, workers.reflect, workers.reflect),
    *(owners.clear_thread, owners.forget, owners.restore, owners.force_reflect, workers.work),
)
Texts = dict[str, str]  # thread ('' in a pool) -> text of the generation in force


def moves_there_and_back(game: Game) -> None:
    """Moves there and back with nothing in between, or with something; what cannot move now stays, and is not judged."""
    game.go_where("reflections")
    resource = game.resource
    was, before = _scope(game), _look(game)
    other = "thread" if was == "resource" else "resource"
    if not was or not _moved(game, other):
        return
    arrived = _look(game)
    for _ in range(game.dice.choice([0, 0, 1, 2, 4])):
        game.dice.choice(_BETWEEN)(game)
        game.bury()
        game.check()
        game.resource = resource
    left = _look(game)
    if _scope(game) == other and _moved(game, was):
        met = _threads(left) - _threads(before)  # a thread that is new is given what is common
        after = {name: text for name, text in _texts(_look(game)).items() if name not in met}
        _judge(game, was, [*map(_texts, (before, arrived, left)), after])
        if left == arrived:
            _must_stand_first(game, before, _look(game))


def _moved(game: Game, to: str) -> bool:
    """Whether a move was made, at once; chunks that nobody observed yet are observed first."""
    outcomes, om, resource = [], game.world.om, game.resource
    for name in sorted(_look(game).of("chunk")):
        scope = resource if "" in _look(game).of("chunks") else f"{resource}|{_thread_of(game, name)}"
        game.start("observe before a move", lambda s=scope, n=name: game.world.perform("observe_chunk", s, n)).finish()
    game.start(f"move to {to}", lambda: outcomes.append(om.migrate_scope(resource, to))).finish()
    game.bury()
    game.watch.forget(resource)
    game.check()
    return outcomes == ["activated"]


def _look(game: Game) -> Held:
    return game.look(game.resource)


def _thread_of(game: Game, chunk: str) -> str:
    return str(_look(game).of("chunk").get(chunk, {}).get(b"thread", b"").decode())


def _scope(game: Game) -> str:
    return (game.client.get(f"{game.prefix}:{{{game.resource}}}:scope") or b"").decode()


def _threads(held: Held) -> set[str]:
    waiting = {chunk[b"thread"].decode() for chunk in held.of("chunk").values()}
    return {*held.of("messages"), *held.of("record"), *held.of("reflections"), *waiting}


def _texts(held: Held) -> Texts:
    """What is in force; a heading that was made harmless on the way says what it said."""
    found = {tail: json.loads(members[-1][0])["text"] for tail, members in held.of("reflections").items()}
    return {tail: text.replace("&lt;", "<") for tail, text in found.items()}


def _judge(game: Game, was: str, texts: list[Texts]) -> None:
    before, arrived, left, after = texts
    where = f"{game.resource} after a move from {was} and back"
    if left == arrived:
        _must(where, {name: text for name, text in before.items() if text.strip()}, after)
    elif was == "resource":
        _must_come_once(where, before.get("", ""), arrived, left, after.get("", ""))


def _must_come_once(where: str, before: str, arrived: Texts, left: Texts, after: str) -> None:
    """A line comes back once for each thread that reflected it since, and once more while it stands unchanged in others."""
    pool, found = Counter(before.splitlines()), Counter(after.splitlines())
    changed = [Counter(text.splitlines()) for name, text in left.items() if arrived.get(name) != text]
    stands = {line for name, text in left.items() if arrived.get(name) == text for line in text.splitlines()}
    for line in found.keys() | stands:
        if line.startswith(("<thread", "</thread")):
            continue
        own, unchanged = sum(each[line] for each in changed), line in stands
        if not own + unchanged <= found[line] <= own + pool[line] * unchanged:
            raise BrokenError(
                f"{where}: {line!r} was there {pool[line]} times, and {own} times since, it is {found[line]}"
            )


def _must_stand_first(game: Game, before: Held, after: Held) -> None:
    """Observations keep their order; those of chunks that were ready stand behind them."""
    for tail, members in before.of("observations").items():
        names, found = (
            [json.loads(m)["id"] for m, _ in some] for some in (members, after.of("observations").get(tail, []))
        )
        _must(f"{game.resource} {tail} observations after a move and back", names, found[: len(names)])


def _must(where: str, expected: object, actual: object) -> None:
    if expected != actual:
        raise BrokenError(f"{where}: must be {expected}, it is {actual}")


WEIGHTS: dict[Callable[[Game], Any], float] = {moves_there_and_back: 3.4}
