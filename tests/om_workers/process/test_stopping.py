"""A process that stops begins no call of a model, waits for those in flight for a while, and gives back what it leaves."""

import asyncio
import threading
from concurrent.futures import Future

import pytest
from world import Everybody, Uncounted, World

from om_api.store.memory import due
from om_workers.calls.model_calls import ModelCalls
from om_workers.llm.deadline import to_the_end, within
from om_workers.llm.scripted import Scripted
from om_workers.process.stopping import StoppedError, Stopping


class Thinking:
    """A model that thinks for half a minute; `began` is set when it was asked, `ended` when it thinks no longer."""

    name = "thinking"

    def __init__(self):
        self.began, self.ended = threading.Event(), threading.Event()
        self.wait = to_the_end

    def complete(self, request):
        within(30, self._think, self.wait)
        return Scripted.echo().complete(request)

    async def _think(self):
        self.began.set()
        try:
            await asyncio.sleep(30)
        finally:
            self.ended.set()


@pytest.fixture
def thinking():
    return Thinking()


def test_once_asked_no_call_begins_and_no_pause_is_made():
    stopping, call = Stopping(), Future()
    stopping.ask(3_600)
    for begin in (lambda: stopping.wait_for(call), lambda: stopping.pause(3_600), stopping.go_on):
        with pytest.raises(StoppedError):
            begin()
    assert call.cancelled()


@pytest.mark.parametrize("leave", [lambda stopping: stopping.ask(0), Stopping.leave])
def test_a_call_in_flight_is_left_after_the_grace_or_at_once(leave, thinking):
    """Breaks when what is left goes on: its connection would stay open until the process ends."""
    stopping = Stopping()
    thinking.wait = stopping.wait_for
    threading.Timer(0.05, leave, [stopping]).start()
    with pytest.raises(StoppedError):
        thinking.complete(None)
    assert thinking.ended.wait(5)


class Stopped(World):
    def stop_while(self, model, verb, *ids):
        self.stopping = Stopping()
        self.model = model
        model.wait = self.stopping.wait_for
        asking = ModelCalls(
            self.services.registry, Everybody(), Uncounted(), self.settings, self.services.count, stopping=self.stopping
        )
        self.services = self.services._replace(models=asking, stopping=self.stopping)
        threading.Thread(target=lambda: model.began.wait(30) and self.stopping.leave()).start()
        mark, self.locked_when_marked = due.mark, []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(due, "mark", lambda *rest: self.locked_when_marked.append(self.locks()) or mark(*rest))
            with pytest.raises(StoppedError):
                self.perform(verb, *ids)

    def is_due(self, index):
        return self.client.zscore(index, "harold") <= self.services.run(due.server_ms())

    def locks(self):
        return list(self.client.scan_iter(f"{self.prefix}:*lock:*", count=1000))


@pytest.fixture
def stopped(client, prefix):
    return Stopped(client, prefix, message_threshold="1000", observation_threshold="400")


def _dispatched(world, verb):
    world.claim()
    while world.dispatch.queue:
        kind, ids = world.dispatch.queue.popleft()
        if kind == verb:
            return ids
        world.perform(kind, *ids)
    raise AssertionError(f"no {verb} is due")


def test_chunks_whose_worker_stops_are_due_now_without_a_lock_and_with_all_their_attempts(stopped, thinking):
    """Breaks when the mark comes before the locks are free, or an attempt stays counted."""
    stopped.say("one", "two", thread="t-1")
    stopped.say("three", "four", thread="t-2")
    scope, *chunks = _dispatched(stopped, "observe_chunk")
    stopped.stop_while(thinking, "observe_chunk", scope, *chunks)
    of = stopped.services.keys.of("harold")
    assert stopped.is_due(stopped.services.keys.due_observe)
    assert (stopped.locks(), set(map(tuple, stopped.locked_when_marked))) == ([], {()})
    assert [stopped.client.hget(of.chunk(chunk), "attempts") for chunk in chunks] == [b"0", b"0"]


def test_a_reflection_whose_worker_stops_is_due_now_without_a_lock(stopped, thinking):
    for n in range(12):
        stopped.say(f"message {n}")
        stopped.tick()
    stopped.om.force_reflect("harold")
    ids = _dispatched(stopped, "reflect")
    stopped.stop_while(thinking, "reflect", *ids)
    assert stopped.is_due(stopped.services.keys.due_reflect)
    assert (stopped.locks(), stopped.locked_when_marked) == ([], [[]])
