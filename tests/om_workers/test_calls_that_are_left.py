"""A process that stops begins no call of a model, waits for those in flight for a while, and gives back what it leaves."""

from __future__ import annotations

import threading

import pytest
from world import Everybody, Uncounted, World

from om_api.errors import ModelError
from om_api.store import due
from om_workers.asking import Asking
from om_workers.llm.scripted import Scripted
from om_workers.stopping import StoppedError, Stopping


class Thinking:
    """A model that thinks until it is let go; `began` is set when it was asked."""

    name = "thinking"

    def __init__(self):
        self.began, self.go = threading.Event(), threading.Event()

    def complete(self, request):
        self.began.set()
        self.go.wait(30)
        return Scripted.echo().complete(request)


@pytest.fixture
def thinking():
    model = Thinking()
    yield model
    model.go.set()


@pytest.mark.parametrize("error", [ModelError("503"), SystemExit(1)])
def test_a_call_returns_what_it_returns_and_raises_what_it_raises(error):
    """Breaks when what ends a call is swallowed: who waits for it would wait for ever."""
    stopping = Stopping()

    assert stopping.wait_for(lambda: 7) == 7
    with pytest.raises(type(error)) as raised:
        stopping.wait_for(lambda: _raise(error))
    assert raised.value is error


def _raise(error):
    raise error


def test_once_asked_no_call_begins_and_no_pause_is_made():
    stopping, made = Stopping(), []
    stopping.ask(3_600)

    for begin in (lambda: stopping.wait_for(lambda: made.append(1)), lambda: stopping.pause(3_600), stopping.go_on):
        with pytest.raises(StoppedError):
            begin()
    assert made == []


def test_a_call_in_flight_may_end_within_the_grace():
    stopping = Stopping()

    assert stopping.wait_for(lambda: stopping.ask(3_600) or "answered") == "answered"


@pytest.mark.parametrize("leave", [lambda stopping: stopping.ask(0), Stopping.leave])
def test_a_call_in_flight_is_left_after_the_grace_or_at_once(leave):
    stopping, never = Stopping(), threading.Event()
    threading.Timer(0.05, leave, [stopping]).start()

    with pytest.raises(StoppedError):
        stopping.wait_for(lambda: never.wait(30))
    never.set()


class Stopped(World):
    """A worker whose model thinks, told to stop at once when it does."""

    def stop_while(self, model, verb, *ids):
        self.stopping = Stopping()
        self.model = model
        asking = Asking(
            self.shop.registry, Everybody(), Uncounted(), self.settings, self.shop.count, stopping=self.stopping
        )
        self.shop = self.shop._replace(asking=asking, stopping=self.stopping)
        threading.Thread(target=lambda: model.began.wait(30) and self.stopping.leave()).start()
        mark, self.locked_when_marked = due.mark, []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(due, "mark", lambda *rest: self.locked_when_marked.append(self.locks()) or mark(*rest))
            with pytest.raises(StoppedError):
                self.perform(verb, *ids)

    def is_due(self, index):
        return self.client.zscore(index, "harold") <= self.shop.run(due.server_ms())

    def locks(self):
        return list(self.client.scan_iter(f"{self.prefix}:*lock:*", count=1000))


@pytest.fixture
def stopped(client, prefix):
    return Stopped(client, prefix, message_threshold="1000", observation_threshold="400")


def _dispatched(world, verb):
    """Claim and work until a task of this kind is about to run; its ids."""
    world.claim()
    while world.dispatch.queue:
        kind, ids = world.dispatch.queue.popleft()
        if kind == verb:
            return ids
        world.perform(kind, *ids)
    raise AssertionError(f"no {verb} is due")


def test_a_chunk_whose_worker_stops_is_due_now_without_a_lock_and_with_all_its_attempts(stopped, thinking):
    """Breaks when the mark comes before the locks are free, or an attempt stays counted."""
    stopped.say("one", "two")
    ids = _dispatched(stopped, "observe_chunk")
    stopped.stop_while(thinking, "observe_chunk", *ids)

    assert stopped.is_due(stopped.shop.keys.due_observe)
    assert (stopped.locks(), stopped.locked_when_marked) == ([], [[]])
    assert stopped.client.hget(stopped.shop.keys.of("harold").chunk(ids[1]), "attempts") == b"0"


def test_several_chunks_of_one_call_are_all_given_back(stopped, thinking):
    stopped.say("one", "two", thread="t-1")
    stopped.say("three", "four", thread="t-2")
    scope, *chunks = _dispatched(stopped, "observe_chunk")
    stopped.stop_while(thinking, "observe_chunk", scope, *chunks)

    of = stopped.shop.keys.of("harold")
    assert len(chunks) == 2
    assert [stopped.client.hget(of.chunk(chunk), "attempts") for chunk in chunks] == [b"0", b"0"]


def test_a_reflection_whose_worker_stops_is_due_now_without_a_lock(stopped, thinking):
    for n in range(12):
        stopped.say(f"message {n}")
        stopped.tick()
    stopped.om.force_reflect("harold")
    ids = _dispatched(stopped, "reflect")
    stopped.stop_while(thinking, "reflect", *ids)

    assert stopped.is_due(stopped.shop.keys.due_reflect)
    assert (stopped.locks(), stopped.locked_when_marked) == ([], [[]])
