"""P6: get_context is one atomic round trip when warm, and a few more when it activates. No model is involved."""

import pytest
from structlog.testing import capture_logs

from om_api import Message
from om_api.domain.errors import StoreError


@pytest.fixture
def trips(world, monkeypatch):
    server, seen = world.om._connection._endpoint, []
    ask = server.ask

    def counted(step):
        seen.append(step)
        return ask(step)

    monkeypatch.setattr(server, "ask", counted)
    return seen


def test_a_warm_context_is_one_round_trip(world, trips):
    for n in range(12):
        world.say(f"message {n}", thread=f"t-{n % 3}")
        world.tick()
    world.context()
    trips.clear()
    world.context()
    assert len(trips) == 1
    assert trips[0].atomic


def test_the_push_that_reaches_the_threshold_shortens_the_next_context_and_no_model_is_asked(world, trips):
    while len(world.context().messages) < 9:
        world.say("another message")
        world.tick()
    asked = len(world.model.requests)
    world.say("the one that reaches it")
    trips.clear()
    after = world.context()
    assert len(after.messages) < 9
    assert after.observations
    assert len(world.model.requests) == asked
    assert len(trips) <= 6


def test_an_agent_that_fails_open_goes_on_without_the_store(world, face, monkeypatch):
    om = face(world.settings, client=world.client, fail_open=True)
    first = Message(role="user", content="before", thread_id="t-1", resource_id="harold")
    om.add_message(first)
    assert not om.get_context("t-1", "harold").unavailable
    monkeypatch.setattr(om._connection._endpoint, "ask", _away)
    receipt = om.add_message(Message(id="m-2", role="user", content="meanwhile", thread_id="t-1", resource_id="harold"))
    assert (receipt.added, receipt.held, receipt.dropped) == (0, ("m-2",), ())
    context = om.get_context("t-1", "harold")
    assert context.unavailable
    assert [message.content for message in context.messages] == ["before", "meanwhile"]
    monkeypatch.undo()
    assert [message.content for message in om.get_context("t-1", "harold").messages] == ["before", "meanwhile"]
    assert len(world.covering()) == 2


def test_an_agent_that_is_closed_while_the_store_is_away_says_how_many_messages_are_lost(world, face, monkeypatch):
    om = face(world.settings, client=world.client, fail_open=True)
    monkeypatch.setattr(om._connection._endpoint, "ask", _away)
    with capture_logs() as said:
        for text in ("one", "two"):
            om.add_message(Message(role="user", content=text, thread_id="t-1", resource_id="harold"))
        om.close()
    known = [(each["event"], each.get("unsent", each.get("dropped"))) for each in said]
    assert known == [("store_unavailable", 1), ("unsent_dropped", 2)]


def _away(batch):
    raise StoreError("away", stored=False)
