"""P6: get_context is one atomic round trip when warm, and a few more when it activates. No model is involved."""

import pytest
from structlog.testing import capture_logs

from om_api import Message
from om_api.client.remembered.reader_cache import MOST
from om_api.domain.errors import StoreError

MB = 2**20


@pytest.fixture
def trips(world, monkeypatch):
    """Every round trip of the client, in order."""
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


def test_a_full_window_with_nothing_ready_is_served_as_it_is_and_goes_to_the_front(world):
    world.say(*[f"message {n}" for n in range(15)])

    assert len(world.context().messages) == 15
    index, others = world.services.keys.due_observe.of("harold"), world.client.time()[0] * 1000
    urgent = world.client.zscore(index, "harold")
    assert urgent < others


def test_a_context_can_be_capped_and_the_memory_keeps_what_the_view_leaves_out(world):
    said = world.say(*[f"message {n}" for n in range(15)])

    capped = world.context(max_tokens=500)

    assert capped.omitted == 15 - len(capped.messages) > 0
    assert [message.id for message in capped.messages] == said[-len(capped.messages) :]
    assert len(world.context().messages) == 15


def test_an_agent_that_fails_open_goes_on_without_the_store(world, face, monkeypatch):
    om = face(world.settings, client=world.client, fail_open=True)
    first = Message(role="user", content="before", thread_id="t-1", resource_id="harold")
    om.add_message(first)
    assert not om.get_context("t-1", "harold").unavailable

    monkeypatch.setattr(om._connection._endpoint, "ask", _away)
    om.add_message(Message(role="user", content="meanwhile", thread_id="t-1", resource_id="harold"))
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
            om.add_message(_said(text))
        om.close()

    known = [(each["event"], each.get("unsent", each.get("dropped"))) for each in said]
    assert known == [("store_unavailable", 1), ("unsent_dropped", 2)]


def test_what_waits_to_be_sent_is_not_forgotten_by_a_call_that_sends_only_its_own(world, face, monkeypatch):
    """Time 0: a call sends what waits. Time 1: another one cannot, and keeps its message. Time 2: the first one succeeds."""
    om = face(world.settings, client=world.client, fail_open=True)
    writing = om._core.writing
    send = writing.send
    monkeypatch.setattr(writing, "send", _away)
    om.add_message(_said("before"))
    monkeypatch.setattr(
        writing, "send", lambda batch: om._core.unsent.extend([writing.prepare(_said("meanwhile"))]) or send(batch)
    )
    om.add_message(_said("after"))
    monkeypatch.undo()
    om.add_message(_said("last"))

    assert sorted(message.content for message in world.context().messages) == ["after", "before", "last", "meanwhile"]


def _away(batch):
    raise StoreError("away", stored=False)


def _said(text):
    return Message(role="user", content=text, thread_id="t-1", resource_id="harold")


def test_an_agent_that_fails_open_keeps_a_large_memory_while_the_store_is_away(world, face, monkeypatch):
    """Catches what was seen: of a memory above a quarter of what a process keeps the context was empty in an outage."""
    om = face(world.settings, client=world.client, fail_open=True)
    om.add_messages(_said(f"{n} {'x' * MB}") for n in range(9))
    read = om.get_context("t-1", "harold")
    monkeypatch.setattr(om._connection._endpoint, "ask", _away)

    kept = om.get_context("t-1", "harold")

    assert kept.unavailable
    assert kept.messages == read.messages != []
    assert MOST / 4 < om._core.contexts._readers.of("harold", "t-1").weight <= MOST
