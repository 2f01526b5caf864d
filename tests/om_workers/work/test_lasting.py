"""What tasks last decides whose turn it is: a small agent waits three ticks at most, whatever stands beside it."""

import heapq
import re
import time

import fakeredis
import pytest
from world import World

from om_api.domain.values import Scope
from om_api.store.fleet import presence
from om_api.store.memory import due
from om_api.store.memory.due import Claim
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.lasting import Lasting

TICK_S = 10
SLOW = """
observational_memory:
  observer_model: slow-1
"""


def world_of(tmp_path, client, prefix, **files):
    for name, text in files.items():
        (tmp_path / "agents" / name).mkdir(parents=True)
        (tmp_path / "agents" / name / "memory.yaml").write_text(text)
    (tmp_path / "observational-memory.yaml").write_text("observational_memory:\n  observer_model: quick-1\n")
    return World(client, prefix, config_dir=tmp_path)


@pytest.fixture
def lasting(tmp_path, client, prefix):
    world = world_of(tmp_path, client, prefix, **{"slow-*": SLOW, "vip": "observational_memory:\n  priority: 2\n"})
    world.run = world.services.run
    world.lasting = Lasting(world.settings, world.services.keys)
    return world


def test_a_model_that_lasts_longer_than_a_tick_is_slow_for_every_agent_of_it_and_no_other(lasting):
    one = lasting.lasting
    assert one.turn("observe", "slow-7") == ("slow-7", "slow-7", 1.0, False)  # until it is measured
    assert one.turn("observe", "vip").cost == 0.5  # a priority of two halves it
    lasting.run(one.ended("observe", "slow-1", 60.0))
    turns = [one.turn("observe", name) for name in ("slow-1", "slow-2", "harold")]
    assert [(each.cost, each.slow) for each in turns] == [(60.0, True), (60.0, True), (1.0, False)]
    assert not one.turn("reflect", "slow-1").slow
    other = Lasting(lasting.settings, lasting.services.keys)
    other.learned(lasting.run(presence.lasting(lasting.services.keys)))
    assert other.turn("observe", "slow-2").slow
    lasting.run(one.ended("observe", "harold", 0.0))
    assert one.turn("observe", "harold").cost == 0.001


def test_slow_ones_leave_an_eighth_alone_where_anybody_is_quicker(lasting):
    one = lasting.lasting
    assert [one.slow_most("observe", tasks) for tasks in (64, 8, 2, 1)] == [56, 7, 1, 1]
    lasting.run(one.ended("observe", "slow-1", 60.0))
    assert one.slow_most("observe", 64) == 56
    lasting.run(one.ended("observe", "harold", 60.0))
    assert one.slow_most("observe", 64) == 64


def test_a_task_does_several_scopes_in_a_moment_only_where_every_model_is_quick(lasting):
    """Catches agents of a model that takes seconds waiting one behind the other, because another model is quick."""
    one = lasting.lasting
    assert one.scopes_a_task("observe") == 1
    lasting.run(one.ended("observe", "harold", 0.02))
    assert one.scopes_a_task("observe") == 1
    lasting.run(one.ended("observe", "slow-1", 0.05))
    assert one.scopes_a_task("observe") == 5


class Fleet:
    """So many threads by a scripted clock: each works one task at a time, for as long as `lasts` says of its scope."""

    def __init__(self, world, monkeypatch, lasts, threads=16):
        self.world, self.lasts, self.free, self.now = world, lasts, threads, 1_800_000_000.0
        monkeypatch.setattr(time, "time", lambda: self.now)
        world.services.presence.serve(["observe"], threads)
        self.dispatcher = Dispatcher(world.services)
        self.run, self.index = world.services.run, world.services.keys.due_observe
        self.events, self.marked, self.waits = [], {}, {}
        self.longest_queue = 0

    def mark(self, *names):
        for name in names:
            self.marked.setdefault(name, self.now)
        self.run(due.mark(self.index, [Scope.parse(name) for name in names]))

    def at(self, seconds, what, *args):
        heapq.heappush(self.events, (self.now + seconds, len(self.events) + self.now % 1, what.__name__, what, args))

    def tick(self):
        self.world.dispatch.elsewhere = len(self.world.dispatch.queue)
        self.dispatcher.fill("observe", 9)
        self.at(TICK_S, self.tick)

    def begin(self):
        while self.free and self.world.dispatch.queue:
            _, (scope, lease) = self.world.dispatch.queue.popleft()
            if not self.dispatcher.begin("observe", scope, lease):
                continue
            self.free -= 1
            held = self.run(due.take(self.index, Scope.parse(scope), 10_000_000))
            self.waits.setdefault(scope, []).append(self.now - self.marked.pop(scope, self.now))
            self.dispatcher.refill("observe", scope)
            self.at(self.lasts(scope), self.end, scope, held)

    def end(self, scope, held: Claim):
        self.free += 1
        self.run(due.done(self.index, held))
        self.dispatcher.lasted("observe", scope, self.lasts(scope))
        self.dispatcher.ended("observe", scope)
        if scope.startswith(("noisy", "slow")):
            self.mark(scope)

    def play(self, seconds):
        self.tick()
        until = self.now + seconds
        while self.events[0][0] < until:
            self.now, _, _, what, args = heapq.heappop(self.events)
            what(*args)
            self.begin()
            self.dispatcher.keep()
            self.longest_queue = max(self.longest_queue, len(self.world.dispatch.queue))


def known(world, *names):
    for name in names:
        scope = Scope.parse(name)
        of = world.services.keys.of(scope.resource)
        world.client.hset(of.record(scope) if scope.thread else of.tokens, "*", 0)


@pytest.mark.parametrize(
    "beside",
    ["a slow model", *(pytest.param(w, marks=pytest.mark.nightly) for w in ("one resource", "a model never measured"))],
)
def test_a_small_agent_waits_three_ticks_at_most(tmp_path, prefix, monkeypatch, beside):
    """Time 0: 50 scopes of one resource are due, or of a model that takes a minute, and are so again at each end.

    Time 35, and every 35 s from then on: a small agent comes due. Catches a queue in the order of arrival, and threads that
    all wait for the slow model. While nobody has measured that one, a small agent waits as long as a call of it, once.
    """
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer())
    world = world_of(tmp_path, client, prefix, **{"slow-*": SLOW})
    noisy = [f"noisy|t-{n}" if beside == "one resource" else f"slow-{n}" for n in range(50)]
    known(world, *noisy, "small")
    lasts = {"noisy": 5.0, "slow": 60.0, "small": 1.0}
    fleet = Fleet(world, monkeypatch, lambda scope: lasts[re.split(r"[|-]", scope)[0]])

    def small():
        fleet.mark("small")
        fleet.at(35, small)

    if beside == "a slow model":
        fleet.run(presence.lasted(world.services.keys, "observe|slow-1", 60.0))
    fleet.mark(*noisy)
    fleet.at(35, small)
    fleet.play(200)
    unknown = beside == "a model never measured"
    assert len(fleet.waits["small"]) >= 4
    assert max(fleet.waits["small"][unknown:]) <= 3 * TICK_S, fleet.waits["small"]
    assert fleet.waits["small"][0] <= 60
    assert fleet.longest_queue <= 16
    assert sum(len(waits) for scope, waits in fleet.waits.items() if scope != "small") > 14 * 200 / 60 * 0.8
