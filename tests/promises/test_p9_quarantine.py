"""P9: what could not be accepted or observed is kept with its reason, and its owner decides what becomes of it."""

import json

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


def test_a_message_that_was_unobservable_is_observed_when_its_owner_says_so(world):
    blocked = _blocking(world, "bad")
    said = [*world.say("one", "two"), *world.say("bad", id="bad"), *world.say("three")]
    world.until_given_up()
    (entry,) = world.om.rejected("harold")
    assert (entry.kind, entry.reason, entry.thread_id) == ("unobservable", "blocked by the provider", "t-1")
    assert "could not be observed" in world.context().text
    blocked.clear()
    assert world.om.retry_rejected("harold", entry.id) is Outcome.SEALED
    assert (world.covering(), world.om.verify()) == (sorted(said), [])
    assert "bad" in [message.content for message in world.context().messages]
    world.until_given_up()
    assert world.covering() == sorted(said)
    assert "could not be observed" not in world.context().text
    assert "[bad]" in world.context().text
    assert (world.om.rejected("harold"), world.om.verify()) == ([], [])


def test_dropping_an_entry_leaves_the_placeholder(world):
    _blocking(world, "bad")
    said = [*world.say("one"), *world.say("bad", id="bad")]
    world.until_given_up()
    (entry,) = world.om.rejected("harold")
    assert world.om.drop_rejected("harold", entry.id) is Outcome.CLEARED
    assert world.om.drop_rejected("harold", entry.id) is Outcome.SUPERSEDED
    assert world.context().text.count("could not be observed") == 1
    assert (world.covering(), world.om.rejected_counts()) == (sorted(said), {})


GOOD = {"role": "user", "content": "x", "thread_id": "t-1", "resource_id": "harold"}
BAD = [{"thread_id": "x" * 201}, {"metadata": {"x": object()}},
    {"content": [{"type": "tool-call", "tool_call_id": "c", "args": json.loads("[" * 900 + "]" * 900)}]},
    {"resource_id": "frozen"}]  # fmt: skip


def _batch(bad, at, n):
    """n messages of three resources, of which one cannot be accepted."""
    for i in range(n):
        yield Message(**{**GOOD, "resource_id": f"harold-{i % 3}", "id": f"m-{i}", **(bad if i == at else {})})


def test_a_batch_with_one_bad_message_says_which_and_adds_none(world, monkeypatch):
    """Breaks when messages are checked as they are sent: those of the 500 before the bad one would be kept."""
    frozen = world.settings.memory.model_copy(update={"read_only": True})
    meant = world.settings.for_agent
    monkeypatch.setattr(type(world.settings), "for_agent", lambda _, name: frozen if name == "frozen" else meant(name))
    rows = [(bad, 700, 701) for bad in BAD] + [(BAD[0], at, n) for at, n in [(0, 1), (499, 501), (500, 1001)]]
    for bad, at, n in rows:
        with pytest.raises(InvalidInputError, match=rf"^messages\[{at}\]: .*(m-{at}|frozen)\b.*; nothing was kept$"):
            world.om.add_messages(_batch(bad, at, n))
    for fields in ({"role": "robot"}, {"content": None}, {"timestamp": "soon"}):  # which cannot even be made
        with pytest.raises(InvalidInputError, match=r"^messages\[700\]: message "):
            world.om.add_messages(_batch(fields, 700, 701))
    for other in (None, [], "hello", 5):
        with pytest.raises(InvalidInputError, match=r"^messages\[1\]: it must be a Message, not "):
            world.om.add_messages([Message(**GOOD), other])
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []
