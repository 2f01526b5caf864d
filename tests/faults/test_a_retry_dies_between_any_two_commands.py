"""A rejected message is retried by a process that dies, or whose reply is lost: it is covered once whatever happens then."""

import contextlib
import itertools

import pytest
from world import World

from om_api.domain.errors import ModelError
from om_api.store.driver.connection import Connection


class DiedError(Exception):
    """The process ended here."""


class Dying(Connection):
    """A connection whose process dies at its n-th round trip: before it is sent, or when the reply is lost."""

    def __init__(self, client, fuse, lost_reply):
        super().__init__(client)
        self.fuse, self.lost_reply, self._ask = fuse, lost_reply, self._endpoint.ask
        self._endpoint.ask = self._dying

    def _dying(self, step):
        self.fuse -= 1
        if self.fuse == 0:
            if self.lost_reply:
                yield from self._ask(step)
            raise DiedError
        return (yield from self._ask(step))


def _house(client, prefix):
    """Messages of which the last is unobservable while `world.blocked`, behind a placeholder, and a malformed member."""
    world = World(client, prefix)
    world.blocked, echo = True, world.model.complete

    def complete(request):
        if world.blocked and any(message.id == "bad" for message in request.messages):
            raise ModelError("blocked by the provider", retryable=False)
        return echo(request)

    world.model.complete = complete
    world.say(*(f"message {n}" for n in range(7)))
    world.say("bad", id="bad")
    client.zadd(f"{prefix}:{{harold}}:messages:t-2", {b"no JSON": 1_763_600_000_000})
    _work(world)
    return world


def _work(world):
    for _ in range(12):
        for name in world.client.zrange(f"{world.prefix}:due:observe", 0, -1):
            world.client.zadd(f"{world.prefix}:due:observe", {name: 1})
        world.sweep()
        world.tick_forgiving()


def _entry(world, kind):
    return next((entry.id for entry in world.om.rejected("harold") if entry.kind == kind), "gone")


def _one(om, entry):
    om.retry_rejected("harold", entry)


def _all(om, _entry):
    list(om.retry_rejected_each("harold", [each.id for each in om.rejected("harold") if each.kind != "malformed"]))
    list(om.retry_rejected_each("harold", [each.id for each in om.rejected("harold") if each.kind == "malformed"]))


_PLACES = ("raw", "ready", "activated")
_DEATHS = [*((_one, n) for n in range(1, 8)), *((_all, n) for n in range(2, 14))]
_ALWAYS = {(retry, n, _PLACES[n % 3], n % 2 == 0) for retry, n in (*_DEATHS[:7], (_all, 3), (_all, 7), (_all, 11))}
_EVERY = itertools.product(_DEATHS, _PLACES, (False, True))
_CASES = [(retry, n, place, lost_reply) for (retry, n), place, lost_reply in _EVERY]


@pytest.mark.parametrize(("retry", "fuse", "where", "lost_reply"),
    [pytest.param(*case, marks=() if case in _ALWAYS else pytest.mark.nightly) for case in _CASES])  # fmt: skip
def test_who_repeats_a_retry_that_died_finds_each_message_covered_once(client, prefix, retry, fuse, where, lost_reply):
    """Breaks when the entry leaves before the message moves, or after: it is nowhere then, or twice."""
    world = _house(client, prefix)
    kind = "malformed" if where == "raw" else "unobservable"
    if where == "activated":
        world.om.force_observe("t-1", "harold")
        _work(world)
    entry, before = _entry(world, kind), [name for name in world.covering() if name]
    world.blocked = False
    alive, world.om._connection = world.om._connection, Dying(client, fuse, lost_reply)
    with contextlib.suppress(DiedError):
        retry(world.om, entry)
    world.om._connection = alive
    retry(world.om, entry)
    _work(world)
    world.om.force_observe("t-1", "harold")
    _work(world)
    assert (world.covering(), world.om.verify()) == (before, [])
    assert "could not be observed" not in world.context().text or (kind == "malformed" and retry is _one)
    left = {each.kind for each in world.om.rejected("harold")}
    also = retry is _all or kind == "unobservable"
    assert left == ({"malformed"} if also else {"malformed", "unobservable"})


def test_a_reflection_that_runs_on_keeps_what_it_took_in(client, prefix):
    """A reflector thinks of the placeholder while its owner retries it: whoever commits first is right, never both."""
    world = _house(client, prefix)
    world.om.force_observe("t-1", "harold")
    _work(world)
    entry, before = _entry(world, "unobservable"), world.covering()
    world.om.force_reflect("harold")
    thought = world.model.complete

    def retry_meanwhile(request):
        if request.purpose == "reflect":
            world.om.retry_rejected("harold", entry)
        return thought(request)

    world.model.complete = retry_meanwhile
    world.tick_forgiving()
    assert world.om.generations("harold") == []
    world.model.complete = thought
    world.blocked = False
    _work(world)
    world.om.force_reflect("harold")
    world.tick()
    assert (world.covering(), world.om.verify()) == (before, [])
