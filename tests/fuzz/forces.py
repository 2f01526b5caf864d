"""What becomes of those who are under way, and what time does."""

from collections.abc import Callable
from typing import Any

from fuzz import agents
from fuzz.activity import ALL, Activity
from fuzz.game import Game
from om_api.store.memory.keys import queued


def _somebody(game: Game) -> Activity | None:
    """Whoever is under way; somebody who begins now when nobody is."""
    if not game.running:
        game.dice.choice([agents.push_one, agents.read])(game)
    under_way = [activity for activity in game.running if not activity.finished]
    return game.dice.choice(under_way) if under_way else None


def advance(game: Game) -> None:
    """Somebody goes on."""
    if activity := _somebody(game):
        activity.go(game.dice.choice([1, 2, 5, ALL, ALL]))


def crash(game: Game) -> None:
    """A process dies between two commands, or when the server had its last one and the reply was on its way."""
    if activity := _somebody(game):
        activity.kill(reply_lost=game.dice.random() < 0.5)


def cut(game: Game) -> None:
    """A connection drops."""
    if activity := _somebody(game):
        activity.cut(reply_lost=game.dice.random() < 0.5)


def leases_expire(game: Game) -> None:
    """Every claim has run out."""
    for index in ("observe", "reflect"):
        for part in game.parts(f"due:{index}"):
            game.client.unlink(queued(part))
            for name in game.client.zrange(part, 0, -1):
                game.client.zadd(part, {name: 1})


def locks_expire(game: Game) -> None:
    """Every lock has run out, whoever believes that it has one."""
    locks = [key for key in game.client.scan_iter(f"{game.prefix}:*lock:*", count=10_000) if b"tick" not in key]
    if locks:
        game.client.unlink(*locks)


def adopting(game: Game, resource: str, thread: str) -> Callable[[], Any]:
    """A worker counting what plain writers left in a thread."""
    world, key = game.world, f"{game.prefix}:{{{resource}}}:messages:{thread}"
    return lambda: world.perform("adopt", key)


WEIGHTS: dict[Callable[[Game], Any], float] = {
    advance: 14,
    crash: 4,
    cut: 3,
    leases_expire: 4,
    locks_expire: 3,
}
