"""What tasks last decides whose turn it is: a small agent waits three ticks at most, whatever stands beside it."""

import heapq
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


def test_what_was_never_measured_lasts_a_second_and_is_not_slow(lasting):
    assert lasting.lasting.turn("observe", "slow-7") == ("slow-7", "slow-7", 1.0, False)


def test_a_priority_of_two_halves_what_a_turn_costs(lasting):
    assert lasting.lasting.turn("observe", "vip").cost == 0.5


def test_a_model_that_lasts_longer_than_a_tick_is_slow_for_every_agent_of_it_and_no_other(lasting):
    lasting.run(lasting.lasting.ended("observe", "slow-1", 60.0))
    turns = [lasting.lasting.turn("observe", name) for name in ("slow-1", "slow-2", "harold")]

    assert [(each.cost, each.slow) for each in turns] == [(60.0, True), (60.0, True), (1.0, False)]
    assert not lasting.lasting.turn("reflect", "slow-1").slow


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


def test_quick_scopes_are_handed_out_to_few_tasks_and_all_of_them_are_done(lasting):
    lasting.services.presence.serve(["observe"], 32)
    dispatcher = Dispatcher(lasting.services)
    for model in ("quick-1", "slow-1"):
        lasting.run(presence.lasted(lasting.services.keys, f"observe|{model}", 0.025))
    dispatcher.capacity("observe")
    names = [f"harold-{n}" for n in range(50)]
    known(lasting, *names)
    lasting.run(due.mark(lasting.services.keys.due_observe, list(map(Scope, names))))
    assert dispatcher.fill("observe", 9).due == 5
    first = lasting.dispatch.queue[0][1][0]
    followed = [claim.scope for claim in dispatcher.following("observe", first, 60)]
    handed = [ids[0] for _, ids in lasting.dispatch.queue]
    assert sorted(handed + followed) == sorted(names)


def test_what_one_process_measured_another_one_knows(lasting):
    lasting.run(lasting.lasting.ended("observe", "slow-1", 60.0))
    other = Lasting(lasting.settings, lasting.services.keys)
    other.learned(lasting.run(presence.lasting(lasting.services.keys)))

    assert other.turn("observe", "slow-2").slow


def test_what_others_told_later_holds_for_who_measured_nothing_itself(lasting):
    """Catches a process of ticks that goes for ever by what it was told first: a slow model would be a quick one to it."""
    for seconds in (1.0, 60.0):
        lasting.lasting.learned({"observe|slow-1": seconds})

    assert lasting.lasting.turn("observe", "slow-7").slow


def test_what_another_process_told_is_news_to_who_measured_before(lasting):
    """Catches two processes of which each goes by its own measurement: one hands out what the other one gives back."""
    lasting.run(lasting.lasting.ended("observe", "slow-1", 1.0))
    lasting.lasting.learned({"observe|slow-1": 60.0})
    assert lasting.lasting.turn("observe", "slow-1").slow

    lasting.run(lasting.lasting.ended("observe", "slow-1", 60.0))
    assert lasting.lasting.turn("observe", "slow-1").cost == 60.0


def test_what_lasts_no_time_costs_something(lasting):
    lasting.run(lasting.lasting.ended("observe", "slow-1", 0.0))

    assert lasting.lasting.turn("observe", "slow-1").cost == 0.001


def test_a_slow_scope_begins_at_the_second_try_whoever_hands_it_out(lasting, monkeypatch):
    """Time 0: a process whose settings call the model quick hands a task out. Time 1: whoever is to begin it knows better.

    Catches a scope that goes back and forth for ever, as while settings are rolled out: handed out as quick, given back as slow.
    """
    lasting.services.presence.serve(["observe"], 4)
    known(lasting, "slow-7")
    hands_out, begins = Dispatcher(lasting.services), Dispatcher(lasting.services)
    monkeypatch.setattr(hands_out._lasting, "_ticks", {"observe": 3_600.0})
    lasting.run(presence.lasted(lasting.services.keys, "observe|slow-1", 60.0))
    begins.capacity("observe")
    lasting.run(due.mark(lasting.services.keys.due_observe, [Scope("slow-7")]))
    begun = []
    for _ in range(2):
        assert hands_out.fill("observe", 9).due == 1
        begun.append(begins.begin("observe", *lasting.dispatch.queue.popleft()[1]))

    assert begun == [False, True]


def test_a_task_that_was_taken_as_slow_leaves_its_place_though_its_model_turned_out_to_be_quick(lasting):
    """Time 0: scopes are taken as slow ones. Time 1: their model is measured anew, and is quick. Time 2: they begin, and end.

    Catches places that nobody gives back: three tasks at a time, and the next three when a lease is over.
    """
    lasting.services.presence.serve(["observe"], 4)
    dispatcher = Dispatcher(lasting.services)
    lasting.run(presence.lasted(lasting.services.keys, "observe|slow-1", 60.0))
    dispatcher.capacity("observe")
    names = [f"slow-{n}" for n in range(9)]
    known(lasting, *names)
    lasting.run(due.mark(lasting.services.keys.due_observe, list(map(Scope, names))))
    assert dispatcher.fill("observe", 9).due == 3
    taken = [ids for _, ids in lasting.dispatch.queue]
    lasting.dispatch.queue.clear()
    dispatcher._lasting.learned({"observe|slow-1": 0.4})

    assert [dispatcher.begin("observe", *ids) for ids in taken] == [True] * 3
    for scope, _ in taken:
        dispatcher.ended("observe", scope)
    assert {ids[0] for _, ids in lasting.dispatch.queue} >= {"slow-3", "slow-4", "slow-5"}


def test_what_is_no_news_is_not_told(lasting):
    for seconds in (60.0, 61.0, 59.0):
        lasting.run(lasting.lasting.ended("observe", "slow-1", seconds))
    told = lasting.run(presence.lasting(lasting.services.keys))
    for _ in range(20):
        lasting.run(lasting.lasting.ended("observe", "slow-1", 2.0))

    assert told == {"observe|slow-1": 60.0}
    assert lasting.run(presence.lasting(lasting.services.keys))["observe|slow-1"] < 4


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
    """Somebody wrote messages under these names."""
    for name in names:
        scope = Scope.parse(name)
        of = world.services.keys.of(scope.resource)
        world.client.hset(of.record(scope) if scope.thread else of.tokens, "*", 0)


@pytest.mark.parametrize("beside", ["one resource", "a slow model", "a slow model that nobody has measured"])
def test_a_small_agent_waits_three_ticks_at_most(tmp_path, prefix, monkeypatch, beside):
    """Time 0: 200 scopes of one resource are due, or 100 agents of a model that takes a minute, and are so again at each end.

    Time 35, and every 35 s from then on: a small agent comes due. Catches a queue in the order of arrival, and threads that
    all wait for the slow model. While nobody has measured that one, a small agent waits as long as a call of it, once.
    """
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer())
    world = world_of(tmp_path, client, prefix, **{"slow-*": SLOW})
    noisy = [f"noisy|t-{n}" for n in range(200)] if beside == "one resource" else [f"slow-{n}" for n in range(100)]
    known(world, *noisy, "small")
    fleet = Fleet(world, monkeypatch, lambda scope: {"n": 5.0, "s": 60.0}[scope[0]] if scope != "small" else 1.0)

    def small():
        fleet.mark("small")
        fleet.at(35, small)

    if beside == "a slow model":
        fleet.run(presence.lasted(world.services.keys, "observe|slow-1", 60.0))
    fleet.mark(*noisy)
    fleet.at(35, small)
    fleet.play(300)

    unknown = beside == "a slow model that nobody has measured"
    assert len(fleet.waits["small"]) >= 7
    assert max(fleet.waits["small"][unknown:]) <= 3 * TICK_S, fleet.waits["small"]
    assert fleet.waits["small"][0] <= 60
    assert fleet.longest_queue <= 16
    assert sum(len(waits) for scope, waits in fleet.waits.items() if scope != "small") > 14 * 300 / 60 * 0.8
