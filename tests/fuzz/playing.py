"""One seed: a plan of verbs, played on a game that is old already, until everybody is at rest; and the shortest that fails."""

import random
import secrets
from collections.abc import Sequence
from typing import Any

import redis

from fuzz import agents, archiving, beside, histories, lines, moving, owners, passing, workers
from fuzz.activity import somebody_else
from fuzz.checker import BrokenError
from fuzz.cold import has_archive
from fuzz.game import ALIASES, ALWAYS, ARCHIVE, CLUSTER, RESOURCES, THREADS, VERBS, Game
from fuzz.slots import Everywhere

OPERATIONS = 60
_REPLAYS = 200  # at most, to find the shortest history that fails
_CALM = 40  # rounds within which everybody must have come to rest
_MODULES = (agents, histories, passing, workers, owners, lines, moving, archiving, beside)
_ORDER = [module.__name__ for module in _MODULES]  # of verbs in a plan


def plan(seed, client):
    """A seed's operations: position and verb. What each does is decided by dice of its own, so that any can be left out."""
    groups = {ALWAYS: True, CLUSTER: isinstance(client, Everywhere), ARCHIVE: has_archive(seed), ALIASES: seed % 4 == 3}
    ordered = sorted(VERBS, key=lambda name: _ORDER.index(VERBS[name].play.__module__))
    names = [name for group, plays in groups.items() if plays for name in ordered if VERBS[name].group == group]
    weights = [VERBS[name].weight for name in names]
    return list(enumerate(random.Random(f"{seed}:plan").choices(names, weights, k=OPERATIONS)))


def play(seed: int, operations: Sequence[tuple[int, str]], client: redis.Redis) -> Game:
    """Play a seed, or a part of it; raises BrokenError (or what the product raised) with the game as `.game`."""
    # a prefix that nobody else has; on a Cluster of its own a game has the same slots each time
    game = Game(seed, client, f"fuzz-{seed if isinstance(client, Everywhere) else secrets.token_hex(4)}:om")
    try:
        begin(game)
        for position, verb in operations:
            step(game, verb, random.Random(f"{seed}:{position}"))
        settle(game)
    except BaseException as error:
        error.game = game
        raise
    finally:
        game.close()
    return game


def failure(seed: int, operations: Sequence[tuple[int, str]], client: redis.Redis) -> BaseException | None:
    try:
        play(seed, operations, client)
    except Exception as error:  # noqa: BLE001 -- whatever the product raises is a finding
        return error
    return None


def begin(game):
    """Some memories are old already when the game begins."""
    for game.resource in RESOURCES:
        for game.thread in THREADS:
            if game.dice.random() < 0.6:
                agents.push_batch(game)
                game.running.pop().finish()
            if game.dice.random() < 0.5:
                game.history.append("plain")
                agents.plain(game)
                game.start("adopt", workers.adopting(game, game.resource, game.thread)).finish()
        if game.dice.random() < 0.7:
            game.world.om.force_observe(None, game.resource)
            game.world.tick_forgiving()
        if game.dice.random() < 0.5:
            game.world.om.force_reflect(game.resource)
            game.world.tick_forgiving()
    if game.cold:
        archiving.archive(game)
    game.bury()
    game.check()


def step(game, verb: str, dice: random.Random):
    game.dice, game.world = dice, dice.choice(game.worlds)
    if game.slots:
        game.slots.dice = dice
    game.resource, game.thread = dice.choice(RESOURCES), dice.choice(THREADS)
    game.history.append(f"{verb} {game.resource} {game.thread} by {game.worlds.index(game.world)}")
    before = {activity: len(activity.log) for activity in game.running}
    somebody_else()
    VERBS[verb].play(game)
    # write down what every activity did in this step, and count it
    everybody = [*before, *(activity for activity in game.running if activity not in before)]
    done = [(activity, activity.log[before.get(activity, 0) :]) for activity in everybody]
    game.history += [f"    {activity.name}: {'; '.join(log)}" for activity, log in done if log]
    words = [entry for _, log in done for entry in log]
    scripts = [entry.partition(" -> ") for entry in words if " -> " in entry]
    happened = {verb, *(f"{name}.lua" for name, _, _ in scripts)}
    happened |= {f"{name}.lua superseded" for name, _, word in scripts if word == "superseded"}
    happened |= {"ASK", "MOVED", "TRYAGAIN"}.intersection(words)
    game.verbs.update(happened | {"died" for entry in words if entry == "CRASHED"})
    game.bury()
    game.check()


def settle(game):
    """Everybody comes to their end, leases run out, sweeps go round; then nothing is left undone."""
    game.history.append("settle")
    somebody_else()
    if game.cold:
        game.cold.away = False
    while game.running:
        last = game.running[0]
        done = len(last.log)
        last.finish()
        game.history.append(f"    {last.name}: {'; '.join(last.log[done:])}")
        game.bury()
    game.model.calm = True
    for resource in RESOURCES:
        game.world.om.resume(resource)
        _leave_memory(game, resource)
    for _ in range(_CALM):
        asked = game.model.asked
        _go_round(game)
        game.check()
        if asked == game.model.asked and not _left(game):
            break
    if left := _left(game):
        raise BrokenError(f"everything was forced and everybody is at rest, but there is left: {left}")
    if game.cold:
        archiving.at_rest(game)
    if breaches := game.world.om.verify():
        raise BrokenError(f"verify says {breaches}")


def _leave_memory(game, resource):
    """Every thread leaves memory again, so that in the end nothing is raw."""
    for field in game.client.hkeys(f"{game.prefix}:{{{resource}}}:tokens"):
        if field.startswith(b"*memory:"):
            game.world.om.set_thread(resource, field.decode().removeprefix("*memory:"), memory="full")


def _go_round(game):
    for world in game.worlds:
        game.world = world
        workers.locks_expire(game)
        workers.leases_expire(game)
        workers.all_neglected(game)
        game.world.sweep()
        for resource in RESOURCES:
            game.world.om.force_observe(None, resource)
        game.world.tick_forgiving()


def _left(game) -> list[str]:
    return [
        f"{resource} {kind} {tail}"
        for resource in RESOURCES
        for kind in ("messages", "chunks")
        for tail in game.held[resource].of(kind)
    ]


def minimal(seed: int, operations: Sequence[tuple[int, str]], client: redis.Redis) -> tuple[list[tuple[int, str]], Any]:
    """Leave out operations, by halves, quarters and so on, while the seed still fails; the rest, and its failure."""
    left, last, size = list(operations), failure(seed, operations, client), max(1, len(operations) // 2)
    for _ in range(_REPLAYS):
        for start in range(0, len(left), size):
            fewer = left[:start] + left[start + size :]
            if found := failure(seed, fewer, client):
                left, last = fewer, found
                break
        else:
            if size == 1:
                break
            size = max(1, size // 2)
    return left, last


def told(seed: int, error: Any) -> str:
    game = getattr(error, "game", None)
    history = game.history if game else []
    return "\n".join([f"seed {seed}: {type(error).__name__}: {error}", *(line[:600] for line in history)])
