"""Deciding about what waits: who may, what is refused, and what happens meanwhile."""

import pytest
from world import World

from om_api import InvalidInputError
from om_api.client.reviewing import Reviewer
from om_api.domain.values import Outcome, Scope


def _house(client, prefix, **changed):
    return World(client, prefix, **{"reflection__review": "ask", "reflection__drain": "false"} | changed)


@pytest.fixture
def house(client, prefix) -> World:
    return _waiting(_house(client, prefix))


def _waiting(house, thread=None):
    for each in range(12):
        house.say(f"message {each} " + "x" * 40)
        house.tick()
    house.settle()
    house.om.force_reflect("harold", thread)
    house.settle()
    return house


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"by": "Ada Lovelace"}, "by .*is not an id"),
        ({"comment": "x" * 8_001}, "8,001 characters: permitted are 8,000"),
        ({"comment": "\ud83d"}, "half a character"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(house, said, why):
    with pytest.raises(InvalidInputError, match=why):
        house.om.send_back("harold", **said)
    assert house.om.proposal("harold")


def test_an_agent_that_only_reads_decides_nothing(house, client, prefix):
    reads = _house(client, prefix, read_only="true")
    for decide in (reads.om.approve, reads.om.send_back):
        with pytest.raises(InvalidInputError, match="is read_only"):
            decide("harold")
    assert house.om.proposal("harold")


def test_nothing_waits_of_a_resource_that_nobody_knows(house):
    assert house.om.proposal("nobody") is None
    assert house.om.approve("nobody") is Outcome.SUPERSEDED
    assert house.om.send_back("nobody") is Outcome.SUPERSEDED


def test_where_each_thread_has_a_memory_one_is_named(client, prefix):
    house = _waiting(_house(client, prefix, scope="thread"), "t-1")
    with pytest.raises(InvalidInputError, match="name a thread_id"):
        house.om.proposal("harold")
    (listed,) = house.om.reviews()

    assert (listed.resource, listed.thread) == ("harold", "t-1")
    assert house.om.proposal("harold", "t-1").id == listed.id
    assert house.om.approve("harold", "t-1") is Outcome.REFLECTED
    assert house.om.reviews() == []


def test_a_proposal_shows_what_is_in_force_before_it(house):
    first = house.om.proposal("harold")
    assert first.before == ""
    house.om.approve("harold")
    _waiting(house)

    second = house.om.proposal("harold")
    assert (second.generation.n, second.before) == (2, first.generation.text)


def test_patterns_that_an_edit_takes_out_are_gone(house):
    scope, keys = Scope("harold"), house.services.keys
    text = client_draft = house.client.get(keys.of("harold").draft(scope))
    house.client.set(
        keys.of("harold").draft(scope),
        client_draft.replace(b'"patterns":[]', b'"patterns":["writes at night","sails"]'),
        ex=60,
    )
    assert text != house.client.get(keys.of("harold").draft(scope))
    house.om.approve("harold", text="* 🟡 Pattern: sails")

    assert house.om.generations("harold")[0].patterns == ("sails",)


@pytest.mark.parametrize("meanwhile", ["clear", "expiry", "sent back", "erase"])
def test_what_happens_between_a_look_and_a_yes_is_not_overruled(house, monkeypatch, meanwhile):
    """Each breaks without what reflect.lua compares: the epoch, the generation, the review."""
    services, read = house.services, Reviewer._read

    def after(self, *asked):
        found = yield from read(self, *asked)
        monkeypatch.setattr(Reviewer, "_read", read)
        {
            "clear": lambda: house.om.clear("harold"),
            "expiry": expires,
            "sent back": lambda: house.om.send_back("harold", comment="no"),
            "erase": lambda: house.om.erase("harold", matching="message 3"),
        }[meanwhile]()
        return found

    def expires():
        house.client.hset(services.keys.of("harold").record(Scope("harold")), "proposed_until", 1)
        assert house.reflector().reflect("harold") is Outcome.REFLECTED

    monkeypatch.setattr(Reviewer, "_read", after)
    assert house.om.approve("harold") is Outcome.SUPERSEDED
    assert len(house.om.generations("harold")) == (1 if meanwhile == "expiry" else 0)
    assert house.om.verify() == []
    assert "review_approved" not in [event.kind for event in house.om.events().events]
