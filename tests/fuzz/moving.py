"""A memory that moves to the other scope and back: it is as it was, and what several threads were given comes back once."""

import re
from collections import Counter

from fuzz import agents, owners, workers
from fuzz.checker import BrokenError, Held, must
from fuzz.game import verb

_BETWEEN = (
    *(agents.push_batch, workers.seal, workers.observe, workers.activate, workers.reflect, workers.reflect),
    *(owners.clear_thread, owners.forget, owners.restore, owners.force_reflect, workers.work),
)
_NO_LINES = re.compile(r'<thread id="[^"]*">\n</thread>\n?')
Texts = dict[str, str]  # thread ('' in a pool) -> text of the generation in force


@verb(3.4, "moves there and back")
def moves_there_and_back(game):
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
        where = f"{resource} after a move from {was} and back"
        if _texts(left) == _texts(arrived):
            must(where, {name: text for name, text in _texts(before).items() if text.strip()}, after)
        elif was == "resource":
            _must_come_once(where, _texts(before).get("", ""), _texts(arrived), _texts(left), after.get("", ""))
        for tail in (
            before.of("observations") if left == arrived else ()
        ):  # those of chunks that were ready stand behind them
            names, found = (
                [each["id"] for each in held.stored("observations", tail)] for held in (before, _look(game))
            )
            must(f"{where}: observations of {tail}", names, found[: len(names)])


def _moved(game, to: str) -> bool:
    """Whether a move was made, at once; chunks that nobody observed yet are observed first."""
    outcomes, om, resource = [], game.world.om, game.resource
    for name in sorted(_look(game).of("chunk")):
        held = _look(game)
        thread = held.of("chunk").get(name, {}).get(b"thread", b"").decode()
        scope = resource if "" in held.of("chunks") else f"{resource}|{thread}"
        game.start("observe before a move", lambda s=scope, n=name: game.world.perform("observe_chunk", s, n)).finish()
    game.start(f"move to {to}", lambda: outcomes.append(om.migrate_scope(resource, to))).finish()
    game.bury()
    game.watch.forget(resource)
    game.check()
    return outcomes == ["activated"]


def _look(game) -> Held:
    return game.look(game.resource)


def _scope(game) -> str:
    return (game.client.get(f"{game.prefix}:{{{game.resource}}}:scope") or b"").decode()


def _threads(held: Held) -> set[str]:
    waiting = {chunk[b"thread"].decode() for chunk in held.of("chunk").values()}
    return {*held.of("messages"), *held.of("record"), *held.of("reflections"), *waiting}


def _texts(held: Held) -> Texts:
    """What is in force; a heading that was escaped on the way says what it said, and a section of no lines says nothing."""
    texts = {tail: held.stored("reflections", tail)[-1]["text"] for tail in held.of("reflections")}
    return {tail: _NO_LINES.sub("", text.replace("&lt;", "<")).strip() for tail, text in texts.items()}


def _must_come_once(where: str, before: str, arrived: Texts, left: Texts, after: str):
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
