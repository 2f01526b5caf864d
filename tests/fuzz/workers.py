"""What workers do: take what is due, get tasks twice or never, and decide against every policy."""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from world import World

from fuzz.activity import Activity, current
from fuzz.checker import waiting
from fuzz.forces import adopting, locks_expire
from fuzz.game import Game
from om_api.domain.notes.pins import Notes, needed, pins_of, with_pins
from om_api.domain.values import Generation, Outcome, Stored
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import reading, scope_state
from om_api.store.memory import reflect as reflect_steps
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.scope_state import ScopeState

_TTL_S = 86_400


class Contrary:
    """Makes one arbitrary move each."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self._world, self._dice = world, dice
        self._run, self._keys = world.services.run, world.services.keys

    def _look(self, resource: str, thread: str) -> ScopeState:
        word = self._world.services.settings.for_agent(resource).scope
        scope = self._run(reading.scope_in_force(self._keys, resource, thread, word))
        return self._run(scope_state.look(self._keys, scope))

    def seal(self, resource: str, thread: str) -> None:
        """Any of a thread's raw messages, in any number, from anywhere."""
        look = self._look(resource, thread)
        raw = self._run(scope_state.raw_messages(self._keys, resource, [thread]))[thread]
        some = [pair for pair in raw if self._dice.random() < 0.6]
        if some:
            tokens = sum(message.tokens or 0 for _, message in some)
            members = [member for member, _ in some]
            self._run(seal_steps.seal(self._keys, look.scope, look.record.epoch, thread, members, tokens))

    def split(self, resource: str, thread: str) -> None:
        """Any chunk that has two messages, anywhere."""
        look = self._look(resource, thread)
        chunks = [chunk for chunk in look.chunks if chunk.messages > 1]
        if chunks:
            chunk = self._dice.choice(chunks)
            messages = self._run(scope_state.sealed_messages(self._keys, resource, chunk))
            n = self._dice.randrange(1, chunk.messages)
            tokens = sum(message.tokens or 0 for message in messages[:n])
            self._run(chunks_steps.split(self._keys, look.scope, chunk, n, tokens, 0))

    def activate(self, resource: str, thread: str) -> None:
        """Any chunks, now and then unready ones too, earlier ones left or not."""
        look = self._look(resource, thread)
        chosen = [chunk.id for chunk in look.chunks if self._dice.random() < (0.5 if chunk.ready else 0.1)]
        if chosen:
            chunks = [chunk for chunk in look.chunks if chunk.id in chosen or self._dice.random() < 0.9]
            self._run(activate_steps.activate(self._keys, look.scope, look.record.epoch, chunks, chosen, _TTL_S))

    def reflect(self, resource: str, thread: str) -> Outcome:
        """Any of the observations, not only the oldest; thinks long."""
        look = self._look(resource, thread)
        stored = self._run(reading.observations(self._keys, look.scope))
        generations = self._run(reading.generations(self._keys, look.scope))
        some = [one for one in stored if self._dice.random() < 0.6]
        if not some:
            return Outcome.REST
        texts = [generations[-1].text] if generations else []
        text = "\n".join([*texts, *(_attributed(one.observation.text, one.observation.thread_id) for one in some)])
        text = self._without_some(text, look, generations, some, stored)
        if activity := current():
            activity.stop("thinks about a reflection")
        made = Generation(
            n=look.record.generation + 1,
            text=text,
            created_at=int(time.time() * 1000),
            tokens=len(text) // 4,
            observation_ids=tuple(one.observation.id for one in some),
        )
        return self._run(reflect_steps.reflect(self._keys, look.scope, look.record, made, some, 1000, _TTL_S))

    def _without_some(
        self,
        text: str,
        look: ScopeState,
        generations: Sequence[Generation],
        some: Sequence[Stored],
        stored: Sequence[Stored],
    ) -> str:
        """A text that forgets what was noted by hand, but for what it was read to be pinned."""
        if self._dice.random() < 0.5:
            text = "\n".join(line for line in text.split("\n") if " by hand " not in line)
        goes = Notes.of(generations, [each.observation for each in some], look.scope)
        stays = Notes.of([], [each.observation for each in stored if each not in some], look.scope)
        return with_pins(text, needed(pins_of(look.record.pins), goes, stays), pooled=goes.pooled)


def _attributed(text: str, thread: str) -> str:
    return f'<thread id="{thread}">\n{text}\n</thread>'


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
