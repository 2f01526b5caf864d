"""What a client remembers between its calls: of prompt caches, of usage, of readers and of what is unsent, all within bounds."""

import pytest

from om_api import Message
from om_api.client.remembered.cache_use import turns
from om_api.client.remembered.reader_cache import ReaderCache
from om_api.client.remembered.unsent import Unsent
from om_api.domain.errors import StoreError
from om_api.domain.policy import Limits
from om_api.domain.snapshot import Snapshot
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.domain.values import Record, Scope, ThreadState
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.fleet import spending

AWARE = Limits(timing="cache", cache=PromptCache(lifetime_ms=300_000))


def snapshot(epoch="e", **thread):
    nothing = {"messages": [], "chunks": [], "observations": [], "others": {}}
    return Snapshot(
        scope=Scope("r"), thread=ThreadState(id="t", **thread), record=Record(epoch=epoch), now=1_000_000, **nothing
    )


def test_a_thread_turns_to_another_model_but_not_to_one_whose_cache_is_warm():
    for seen, model, limits, expected in [
        (snapshot(), "a", AWARE, True), (snapshot(), None, AWARE, False), (snapshot(), "a", Limits(), False),
        (snapshot(epoch=""), "a", AWARE, False), (snapshot(model="a", model_at=999_999), "a", AWARE, False),
        (snapshot(model="a", model_at=999_999), "b", AWARE, True),
        (snapshot(model="a", model_before="b", model_at=999_999), "b", AWARE, False),
        (snapshot(model="a", model_before="b", model_at=700_000), "b", AWARE, True),
    ]:  # fmt: skip
        assert turns(seen, model, limits) is expected, seen


def told(world, resource="harold"):
    day = spending.day_of(int(world.client.time()[0]) * 1000)
    (found,) = world.services.run(spending.read(world.services.keys, [day], resource))
    return {name.removeprefix("served|"): amount for name, amount in found.items() if name.startswith("served|")}


def test_figures_go_with_a_push_that_is_due_and_with_nothing_else(world):
    world.say("one")
    world.context()
    world.say("two")
    assert told(world) == {}

    world.om._core.reporter.usage._every_s = 0
    world.context()
    assert told(world) == {}
    world.say("three")
    assert told(world)["contexts"] == told(world, None)["contexts"] == 2
    assert (told(world)["raw"], told(world)["raw_cached"]) == (300, 100)
    world.say("four", thread="off", memory="off")
    world.context("off")
    world.say("five")
    assert told(world)["raw"] == 400


def test_figures_that_cannot_be_sent_fail_no_push_and_are_sent_with_the_next(world, monkeypatch):
    world.om._core.reporter.usage._every_s = 0
    world.say("one")
    world.context()
    tell = spending.tell

    def refuse(*_):
        raise StoreError("full", stored=False)
        yield

    monkeypatch.setattr(spending, "tell", refuse)
    world.say("two")
    monkeypatch.setattr(spending, "tell", tell)
    world.say("three")

    assert told(world)["contexts"] == 1
    assert len(world.context().messages) == 3


def read(recent, thread, size, of=None):
    """Have a thread's reader meet a message of about so many bytes, of its own unless `of` names another thread."""
    member = encode_message(Message(role="user", content="x" * size))
    reader = recent.of("harold", thread)
    reader.past.messages({of or thread: [(member, 1.0)]}, "harold")
    recent.keep("harold", thread, reader)


@pytest.fixture
def recent():
    return ReaderCache(len, most=200_000)


def test_beyond_the_bound_the_longest_unused_is_forgotten(recent):
    for name in ("t-0", "t-1", "t-2", "t-3"):  # four of them fit
        read(recent, name, 8_000)
    used = recent.of("harold", "t-0")
    read(recent, "t-4", 8_000)

    assert recent.of("harold", "t-0") is used
    assert not recent.of("harold", "t-1").past.weight
    assert recent.of("harold", "t-4").past.weight


def test_a_thread_of_which_there_is_nothing_is_not_remembered(recent):
    """Catches a reader's key that asks for made-up threads: 12,000 of them took 90 MB, and no bound in bytes saw them."""
    for other in (None, "t-2"):
        if other:
            read(recent, "t-1", 100, of=other)
        else:
            recent.keep("harold", "t-1", recent.of("harold", "t-1"))
        assert recent.of("harold", "t-1") is not recent.of("harold", "t-1"), other


def encoded(n, text="hello"):
    message = Message(role="user", content=text, id=f"m-{n}", thread_id="t-1", resource_id="harold")
    return EncodedMessage(message, encode_message(message))


def ids(unsent):
    return [each.message.id for each in unsent]


def test_the_bytes_that_wait_are_those_that_will_be_sent():
    first, second = encoded(1, "x" * 60), encoded(2, "y" * 60)
    unsent = Unsent(most_bytes=len(first.member) + len(second.member) - 1)
    assert unsent.extend([first]) == []
    assert unsent.weight == len(first.member)
    assert (unsent.extend([second]), unsent.dropped) == ([first], 1)
    assert (ids(unsent), unsent.weight) == (["m-2"], len(second.member))


def test_only_what_was_sent_is_forgotten():
    unsent = Unsent()
    unsent.extend(map(encoded, range(2)))
    sent = list(unsent)
    unsent.extend([encoded(2)])
    unsent.sent(sent)

    assert ids(unsent) == ["m-2"]
    assert unsent.weight == len(encoded(2).member)
