"""What workers do: take what is due, get tasks twice or never, and decide against every policy."""

import random
from collections.abc import Callable
from typing import Any

from fuzz.activity import Activity
from fuzz.checker import waiting
from fuzz.contrary import Contrary
from fuzz.forces import adopting, locks_expire
from fuzz.game import Game


def _contrarily(game: Game, move: str) -> None:
    contrary = Contrary(game.world, random.Random(game.dice.random()))
    resource, thread = game.resource, game.thread
    game.begin(f"contrary {move}", lambda: getattr(contrary, move)(resource, thread))


def observing(game: Game, chunk: str) -> Callable[[], Any]:
    """A worker's observation of a chunk."""
    pooled = "" in game.held[game.resource].of("chunks")
    world, scope = game.world, game.resource if pooled else f"{game.resource}|{game.thread}"
    return lambda: world.perform("observe_chunk", scope, chunk)


def reflecting(game: Game) -> Callable[[], Any]:
    """A worker's reflection on any of the observations."""
    contrary, resource, thread = Contrary(game.world, random.Random(game.dice.random())), game.resource, game.thread
    return lambda: contrary.reflect(resource, thread)


def sealing(game: Game) -> Activity:
    """A worker about to seal any of a thread's messages."""
    contrary = Contrary(game.world, random.Random(game.dice.random()))
    resource, thread = game.resource, game.thread
    return game.start("contrary seal", lambda: contrary.seal(resource, thread))


def claim(game: Game) -> None:
    """A tick takes what is due."""
    game.begin("claim", game.world.claim)


def work(game: Game) -> None:
    """A worker takes a task."""
    if game.world.dispatch.queue:
        verb, ids = game.world.dispatch.queue.popleft()
        world = game.world
        game.begin(f"{verb} {ids[0]}", lambda: world.perform(verb, *ids))


def double(game: Game) -> None:
    """The broker delivers a task twice."""
    queue = game.world.dispatch.queue
    if queue:
        queue.append(queue[0])
        work(game)


def lose(game: Game) -> None:
    """The broker loses a task."""
    if game.world.dispatch.queue:
        game.world.dispatch.queue.popleft()


def adopt(game: Game) -> None:
    """A worker counts what plain writers left."""
    game.begin("adopt", adopting(game, game.resource, game.thread))


def sweep(game: Game) -> None:
    """Every resource was neglected for long."""
    all_neglected(game)
    game.begin("sweep", game.world.sweep)


def all_neglected(game: Game) -> None:
    """Have the next sweep look after every resource."""
    for part in game.parts("resources"):
        for name in game.client.zrange(part, 0, -1):
            game.client.zadd(part, {name: 1})


def seal(game: Game) -> None:
    """Any raw messages, from anywhere in a thread; gladly where something waits for adoption."""
    game.go_where("messages")
    uncounted = sorted((resource, thread) for resource, held in game.held.items() for thread in waiting(held))
    if uncounted and game.dice.random() < 0.7:
        game.resource, game.thread = game.dice.choice(uncounted)
    _contrarily(game, "seal")


def observe(game: Game) -> None:
    """Any chunk, whoever else observes it."""
    if name := game.go_where("chunk", b"sealed", b"ready"):
        game.begin("observe chunk", observing(game, name))


def split(game: Game) -> None:
    """Any chunk, ready or not."""
    game.go_where("chunk", b"sealed", b"ready")
    _contrarily(game, "split")


def activate(game: Game) -> None:
    """Any chunks."""
    game.go_where("chunk", b"ready")
    _contrarily(game, "activate")


def reflect(game: Game) -> None:
    """Any observations."""
    game.go_where("observations")
    _contrarily(game, "reflect")


def outlive(game: Game) -> None:
    """A model call outlives its lock: another worker observes the same chunk and stores its result first."""
    name = game.go_where("chunk", b"sealed")
    if not name:
        seal(game)
        return
    slow, fast = (game.start(f"{who} observe", observing(game, name)) for who in ("outlived", "second"))
    slow.think()
    locks_expire(game)
    fast.go_until("buffer")
    game.check()  # what the second one stored is there to stay
    slow.finish()


def nobody_survives(game: Game, chunk: str) -> None:
    """Whoever observes a chunk dies, as often as workers try."""
    for _ in range(2):
        victim = game.start("observe and die", observing(game, chunk))
        victim.think()
        victim.kill(reply_lost=False)
        locks_expire(game)


def overtake(game: Game) -> None:
    """One reflector thinks; another begins after it and commits first."""
    game.go_where("observations")
    slow, fast = (game.start(f"{who} reflect", reflecting(game)) for who in ("overtaken", "overtaking"))
    slow.think()
    fast.finish()
    slow.finish()


WEIGHTS: dict[Callable[[Game], Any], float] = {
    claim: 4,
    work: 12.5,
    double: 3.2,
    lose: 3,
    adopt: 9,
    sweep: 3.8,
    seal: 5,
    observe: 6,
    split: 10,
    activate: 8.5,
    reflect: 4,
    outlive: 4,
    overtake: 6.5,
}
