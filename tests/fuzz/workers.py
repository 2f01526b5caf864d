"""What workers do: take what is due, get tasks twice or never, decide against every policy; and what befalls anybody."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from redis.crc import key_slot

from fuzz.activity import ALL, Activity, current
from fuzz.checker import waiting
from fuzz.game import CLUSTER, RESOURCES, VERBS, verb
from om_api.domain.notes.pins import Notes, needed, pins_of, with_pins
from om_api.domain.values import Generation, Outcome
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import reading, scope_state
from om_api.store.memory import reflect as reflect_steps
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.keys import queued
from om_api.store.memory.scope_state import ScopeState

_TTL_S = 86_400


class Contrary:
    """A worker that makes one arbitrary move in a thread."""

    def __init__(self, game):
        self._dice, self._resource, self._thread = random.Random(game.dice.random()), game.resource, game.thread
        self._run, self._keys, self._settings = game.world.services.run, game.world.services.keys, game.world.settings

    def _look(self) -> ScopeState:
        word = self._settings.for_agent(self._resource).scope
        scope = self._run(reading.scope_in_force(self._keys, self._resource, self._thread, word))
        return self._run(scope_state.look(self._keys, scope))

    def seal(self):
        """Any of a thread's raw messages, in any number, from anywhere."""
        look, thread = self._look(), self._thread
        raw = self._run(scope_state.raw_messages(self._keys, self._resource, [thread]))[thread]
        if some := [pair for pair in raw if self._dice.random() < 0.6]:
            tokens = sum(message.tokens or 0 for _, message in some)
            members = [member for member, _ in some]
            self._run(seal_steps.seal(self._keys, look.scope, look.record.epoch, thread, members, tokens))

    def split(self):
        """Any chunk that has two messages, anywhere."""
        look = self._look()
        if chunks := [chunk for chunk in look.chunks if chunk.messages > 1]:
            chunk = self._dice.choice(chunks)
            messages = self._run(scope_state.sealed_messages(self._keys, self._resource, chunk))
            n = self._dice.randrange(1, chunk.messages)
            tokens = sum(message.tokens or 0 for message in messages[:n])
            self._run(chunks_steps.split(self._keys, look.scope, chunk, n, tokens, 0))

    def activate(self):
        """Any chunks, now and then unready ones too, earlier ones left or not."""
        look = self._look()
        chosen = [chunk.id for chunk in look.chunks if self._dice.random() < (0.5 if chunk.ready else 0.1)]
        if chosen:
            chunks = [chunk for chunk in look.chunks if chunk.id in chosen or self._dice.random() < 0.9]
            self._run(
                activate_steps.activate(self._keys, look.scope, look.record.epoch, chunks, chosen, _TTL_S, count=len)
            )

    def reflect(self):
        """Any of the observations, not only the oldest; thinks long. It may forget lines by hand that it read to be unpinned."""
        look = self._look()
        stored = self._run(reading.observations(self._keys, look.scope))
        generations = self._run(reading.generations(self._keys, look.scope))
        some = [one for one in stored if self._dice.random() < 0.6]
        if not some:
            return Outcome.REST
        said = [one.observation for one in some]
        texts = [generations[-1].text] if generations else []
        text = "\n".join([*texts, *(f'<thread id="{one.thread_id}">\n{one.text}\n</thread>' for one in said)])
        if self._dice.random() < 0.5:
            text = "\n".join(line for line in text.split("\n") if " by hand " not in line)
        goes = Notes.of(generations, said, look.scope)
        stays = Notes.of([], [each.observation for each in stored if each not in some], look.scope)
        text = with_pins(text, needed(pins_of(look.record.pins), goes, stays), pooled=goes.pooled)
        if activity := current():
            activity.stop("thinks about a reflection")
        made = Generation(
            n=look.record.generation + 1,
            text=text,
            created_at=int(time.time() * 1000),
            tokens=len(text) // 4,
            observation_ids=tuple(one.id for one in said),
        )
        return self._run(reflect_steps.reflect(self._keys, look.scope, look.record, made, some, 1000, _TTL_S))


def _contrarily(game, move):
    game.begin(f"contrary {move}", getattr(Contrary(game), move))


def sealing(game) -> Activity:
    return game.start("contrary seal", Contrary(game).seal)


def adopting(game, resource, thread) -> Callable[[], Any]:
    return partial(game.world.perform, "adopt", f"{game.prefix}:{{{resource}}}:messages:{thread}")


def observing(game, chunk: str) -> Callable[[], Any]:
    scope = game.resource if "" in game.held[game.resource].of("chunks") else f"{game.resource}|{game.thread}"
    return partial(game.world.perform, "observe_chunk", scope, chunk)


@verb(4, "claim", counted="claim.lua")
def claim(game):
    game.begin("claim", game.world.claim)


@verb(12.5)
def work(game):
    if game.world.dispatch.queue:
        verb, ids = game.world.dispatch.queue.popleft()
        game.begin(f"{verb} {ids[0]}", partial(game.world.perform, verb, *ids))


@verb(3.2, "double delivery")
def double(game):
    queue = game.world.dispatch.queue
    if queue:
        queue.append(queue[0])
        work(game)


@verb(3, "task lost")
def lose(game):
    if game.world.dispatch.queue:
        game.world.dispatch.queue.popleft()


@verb(9, "adopt", counted="adopt.lua")
def adopt(game):
    game.begin("adopt", adopting(game, game.resource, game.thread))


@verb(3.8, "sweep")
def sweep(game):
    all_neglected(game)
    game.begin("sweep", game.world.sweep)


def all_neglected(game):
    """Have the next sweep look after every resource."""
    for part in game.parts("resources"):
        _make_due(game, part)


def _make_due(game, part):
    if names := game.client.zrange(part, 0, -1):
        game.client.zadd(part, dict.fromkeys(names, 1))


@verb(5, "seal", counted="seal.lua")
def seal(game):
    """Any raw messages, from anywhere in a thread; gladly where something waits for adoption."""
    game.go_where("messages")
    uncounted = sorted((resource, thread) for resource, held in game.held.items() for thread in waiting(held))
    if uncounted and game.dice.random() < 0.7:
        game.resource, game.thread = game.dice.choice(uncounted)
    _contrarily(game, "seal")


@verb(6)
def observe(game):
    if name := game.go_where("chunk", b"sealed", b"ready"):
        game.begin("observe chunk", observing(game, name))


@verb(10, "split", counted="split.lua")
def split(game):
    game.go_where("chunk", b"sealed", b"ready")
    _contrarily(game, "split")


@verb(8.5, "activate", counted="activate.lua")
def activate(game):
    game.go_where("chunk", b"ready")
    _contrarily(game, "activate")


@verb(4, "reflect", counted="reflect.lua")
def reflect(game):
    game.go_where("observations")
    _contrarily(game, "reflect")


@verb(4, "observe, slow and outlived by another")
def outlive(game):
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


def nobody_survives(game, chunk: str):
    """Whoever observes a chunk dies, as often as workers try."""
    for _ in range(2):
        victim = game.start("observe and die", observing(game, chunk))
        victim.think()
        victim.kill(reply_lost=False)
        locks_expire(game)


@verb(6.5)
def overtake(game):
    """One reflector thinks; another begins after it and commits first."""
    game.go_where("observations")
    slow, fast = (game.start(f"{who} reflect", Contrary(game).reflect) for who in ("overtaken", "overtaking"))
    slow.think()
    fast.finish()
    slow.finish()


def _somebody(game) -> Activity | None:
    """Whoever is under way; somebody who begins now when nobody is."""
    if not game.running:
        VERBS[game.dice.choice(["push_one", "read"])].play(game)
    under_way = [activity for activity in game.running if not activity.finished]
    return game.dice.choice(under_way) if under_way else None


@verb(14)
def advance(game):
    if activity := _somebody(game):
        activity.go(game.dice.choice([1, 2, 5, ALL, ALL]))


@verb(4)
def crash(game):
    """A process dies between two commands, or when the server had its last one and the reply was on its way."""
    if activity := _somebody(game):
        activity.kill(reply_lost=game.dice.random() < 0.5)


@verb(3, "connection dropped")
def cut(game):
    if activity := _somebody(game):
        activity.cut(reply_lost=game.dice.random() < 0.5)


@verb(4, "lease expiry")
def leases_expire(game):
    for index in ("observe", "reflect"):
        for part in game.parts(f"due:{index}"):
            game.client.unlink(queued(part))
            _make_due(game, part)


@verb(3, "lock expiry")
def locks_expire(game):
    locks = [key for key in game.client.scan_iter(f"{game.prefix}:*lock:*", count=10_000) if b"tick" not in key]
    if locks:
        game.client.unlink(*locks)


@verb(9, "a slot sets out for another node", group=CLUSTER)
def slot_leaves(game):
    shared = sorted(key for key in game.client.scan_iter(f"{game.prefix}:*", count=1000) if b"}:" not in key)
    memory = f"{game.prefix}:{{{game.dice.choice(RESOURCES)}}}:".encode()
    if game.slots:
        game.slots.leave(key_slot(game.dice.choice([memory, game.dice.choice(shared or [memory])])))


@verb(8, "a part of its keys goes", group=CLUSTER)
def slot_goes_on(game):
    if game.slots:
        game.slots.go_on()


@verb(5, "all of it has arrived", group=CLUSTER)
def slot_arrives(game):
    if game.slots:
        game.slots.arrive()
