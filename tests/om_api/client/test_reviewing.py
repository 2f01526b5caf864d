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


def test_what_may_not_be_decided_is_refused_and_changes_nothing(house, client, prefix):
    for said, why in (
        ({"by": "Ada Lovelace"}, "by .*is not an id"),
        ({"comment": "x" * 8_001}, "8,001 characters: permitted are 8,000"),
        ({"comment": "\ud83d"}, "half a character"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            house.om.send_back("harold", **said)
    reads = _house(client, prefix, read_only="true")
    for decide in (reads.om.approve, reads.om.send_back):
        with pytest.raises(InvalidInputError, match="is read_only"):
            decide("harold")
    assert house.om.proposal("harold")
    assert house.om.proposal("nobody") is None
    assert house.om.approve("nobody") is house.om.send_back("nobody") is Outcome.SUPERSEDED


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
