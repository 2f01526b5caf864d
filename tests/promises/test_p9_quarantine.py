"""P9: what could not be accepted or observed is kept with its reason, and its owner decides what becomes of it."""

import pytest

from om_api import InvalidInputError, Message
from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome


def _blocking(world, *ids):
    """A model that refuses these messages; the set may change."""
    blocked, echo = set(ids), world.model.complete

    def complete(request):
        if blocked & {message.id for message in request.messages}:
            raise ModelError("blocked by the provider", retryable=False)
        return echo(request)

    world.model.complete = complete
    return blocked


def _work(world):
    for _ in range(15):
        world.om.force_observe("t-1", "harold")
        world.sweep()
        world.tick_forgiving()


def test_a_message_that_was_unobservable_is_observed_when_its_owner_says_so(world):
    blocked = _blocking(world, "bad")
    said = [*world.say("one", "two"), *world.say("bad", id="bad"), *world.say("three")]
    _work(world)
    (entry,) = world.om.rejected("harold")
    assert (entry.kind, entry.reason, entry.thread_id) == ("unobservable", "blocked by the provider", "t-1")
    assert "could not be observed" in world.context().text

    blocked.clear()
    assert world.om.retry_rejected("harold", entry.id) is Outcome.SEALED
    assert (world.covering(), world.om.verify()) == (sorted(said), [])
    assert "bad" in [message.content for message in world.context().messages]
    _work(world)

    assert world.covering() == sorted(said)
    assert "could not be observed" not in world.context().text
    assert "[bad]" in world.context().text
    assert world.om.rejected("harold") == []
    assert world.om.verify() == []


def test_a_message_that_is_still_unobservable_comes_back_to_the_quarantine(world):
    _blocking(world, "bad")
    said = [*world.say("one"), *world.say("bad", id="bad")]
    _work(world)
    (first,) = world.om.rejected("harold")
    world.om.retry_rejected("harold", first.id)
    _work(world)

    (second,) = world.om.rejected("harold")
    assert (second.kind, second.member) == ("unobservable", first.member)
    assert world.context().text.count("could not be observed") == 1
    assert world.covering() == sorted(said)


def test_what_a_reflection_took_in_cannot_be_retried_and_nothing_changes(world):
    _blocking(world, "bad")
    said = [*world.say("one", "two"), *world.say("bad", id="bad")]
    _work(world)
    world.om.force_reflect("harold")
    world.tick_forgiving()
    (entry,) = world.om.rejected("harold")

    with pytest.raises(InvalidInputError, match=r"covered by generation 1.* push it again as a new message"):
        world.om.retry_rejected("harold", entry.id)
    assert world.covering() == sorted(said)
    assert world.om.rejected("harold") == [entry]


def test_a_malformed_member_is_judged_again_and_comes_back_while_nothing_has_changed(world):
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    said = world.say("one", "two")
    world.client.zadd(key, {b'{"role":"robot"}': 1_763_600_000_000})
    _work(world)
    (first,) = world.om.rejected("harold")
    assert world.om.retry_rejected("harold", first.id) is Outcome.BUSY
    _work(world)

    (second,) = world.om.rejected("harold")
    assert (second.kind, second.reason, second.member) == ("malformed", first.reason, '{"role":"robot"}')
    assert world.covering() == sorted(said)
    assert world.om.retry_rejected("harold", first.id) is Outcome.SUPERSEDED


def test_dropping_an_entry_leaves_the_placeholder(world):
    _blocking(world, "bad")
    said = [*world.say("one"), *world.say("bad", id="bad")]
    _work(world)
    (entry,) = world.om.rejected("harold")

    assert world.om.drop_rejected("harold", entry.id) is Outcome.CLEARED
    assert world.om.drop_rejected("harold", entry.id) is Outcome.SUPERSEDED
    assert "could not be observed" in world.context().text
    assert (world.covering(), world.om.rejected_counts()) == (sorted(said), {})


def test_a_model_that_is_at_fault_costs_no_message(world):
    """A wrong setting fails for every message. Were messages blamed, a memory would turn into placeholders overnight."""
    echo = world.model.complete

    def broken(request):
        raise ModelError("400: this model knows no temperature", retryable=False)

    world.model.complete = broken
    said = world.say(*[f"message {n}" for n in range(8)])
    _work(world)
    assert (world.om.rejected("harold"), world.om.observations("harold")) == ([], [])

    world.model.complete = echo
    world.client.delete(f"{world.prefix}:{{harold}}:lock:waits")  # five minutes pass
    _work(world)
    assert all(f"[{name}]" in world.context().text for name in said)
    assert world.om.rejected("harold") == []


# -- a batch ------------------------------------------------------------------------------------------------------------

GOOD = {"role": "user", "content": "x", "thread_id": "t-1", "resource_id": "harold"}
BAD = {
    "an id of a thread": {"thread_id": "a/b"},
    "an id of a resource": {"resource_id": ""},
    "something that JSON cannot say": {"metadata": {"x": object()}},
    "half a character": {"content": "\ud800"},
    "a part that nests deeply": {"content": [{"type": "tool-call", "tool_call_id": "c", "args": [[]]}]},
    "a resource that is read only": {"resource_id": "frozen"},
}


def _batch(bad, at, n, many_resources):
    """n messages of three resources (or one), of which one cannot be accepted."""
    for i in range(n):
        resource = f"harold-{i % 3}" if many_resources else "harold"
        yield Message(**{**GOOD, "resource_id": resource, "id": f"m-{i}", **(bad if i == at else {})})


def _deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("what", "at", "n", "many_resources"),
    [
        *((what, 700, 1001, True) for what in BAD),
        *(
            ("a part that nests deeply", at, n, False)
            for at, n in [(0, 1), (2, 3), (499, 501), (500, 1001), (1000, 1001)]
        ),
    ],
)
def test_a_batch_with_one_bad_message_says_which_and_adds_none(world, monkeypatch, what, at, n, many_resources):
    """Breaks when messages are checked as they are sent: those of the 500 before the bad one would be kept."""
    monkeypatch.setitem(BAD["a part that nests deeply"]["content"][0], "args", _deep(5_000))
    frozen = world.settings.memory.model_copy(update={"read_only": True})
    meant = world.settings.for_agent
    monkeypatch.setattr(type(world.settings), "for_agent", lambda _, name: frozen if name == "frozen" else meant(name))

    with pytest.raises(InvalidInputError, match=rf"^messages\[{at}\]: .*(m-{at}|frozen)\b.*; nothing was kept$"):
        world.om.add_messages(_batch(BAD[what], at, n, many_resources))
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []


@pytest.mark.parametrize(
    "fields", [{"role": "robot"}, {"content": None}, {"tokens": -1}, {"timestamp": "soon"}, {"id": ".."}]
)
def test_a_message_that_cannot_be_made_is_named_by_its_place_where_a_batch_makes_it(world, fields):
    with pytest.raises(InvalidInputError, match=r"^messages\[700\]: message "):
        world.om.add_messages(_batch(fields, 700, 1001, many_resources=True))
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []


@pytest.mark.parametrize("other", [None, [{"role": "user", "content": "x"}], "hello", 5])
def test_what_is_no_message_is_refused_by_its_place(world, other):
    with pytest.raises(InvalidInputError, match=r"^messages\[1\]: it must be a Message, not "):
        world.om.add_messages([Message(**GOOD), other])
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []
