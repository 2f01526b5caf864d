"""What becomes of a thought: kept, put up for review, or in force; and what a review that never ends leaves."""

import threading

import pytest
from world import World, wait_until

from om_api.domain.values import Outcome, Scope
from om_workers.llm.scripted import Scripted


def _house(client, prefix, **changed):
    asks = {"reflection__review": "ask", "reflection__drain": "false", "reflection__review_expires": "2h"}
    return World(client, prefix, **asks | changed)


def _observed(house, n=12):
    for each in range(n):
        house.say(f"message {each} " + "x" * 40)
        house.tick()
    house.settle()


def _reflected(house):
    """One look of the Reflector that somebody asked for."""
    house.om.force_reflect("harold")
    return house.reflector().reflect("harold")


def _place(house):
    return house.client.zscore(str(house.services.keys.due_reflect.of("harold")), "harold")


def test_what_is_put_up_is_due_when_its_review_ends(client, prefix):
    house = _house(client, prefix)
    _observed(house)

    assert _reflected(house) is Outcome.PROPOSED
    waiting = house.om.proposal("harold")
    assert waiting.expires_at - waiting.asked_at == 7_200_000
    assert _place(house) == waiting.expires_at
    left = client.ttl(house.services.keys.of("harold").draft(Scope("harold")))
    assert left * 1000 > waiting.expires_at - waiting.asked_at


def test_a_reflection_that_is_asked_for_while_another_waits_is_not_thought(client, prefix):
    house = _house(client, prefix)
    _observed(house)
    _reflected(house)
    asked = len(house.model.requests)

    assert _reflected(house) is Outcome.REST
    assert len(house.model.requests) == asked
    assert not client.hexists(house.services.keys.of("harold").record(Scope("harold")), "force-reflect")
    assert house.om.force_reflect("harold", wait=0) is Outcome.BUSY
    house.settle()
    assert _place(house) == house.om.proposal("harold").expires_at


def test_who_asked_hears_that_it_waits(client, prefix):
    house = _house(client, prefix)
    _observed(house)
    record = house.services.keys.of("harold").record(Scope("harold"))

    def work():
        wait_until(lambda: client.hexists(record, "force-reflect"), "the request")
        house.reflector().reflect("harold")

    worker = threading.Thread(target=work)
    worker.start()
    assert house.om.force_reflect("harold", wait=30) is Outcome.PROPOSED
    worker.join()
    assert house.om.stats("harold").reviews == 1


@pytest.mark.parametrize("stopped", ["paused", "read_only"])
def test_of_whom_nothing_is_to_be_written_nothing_counts_by_itself(client, prefix, stopped):
    house = _house(client, prefix)
    _observed(house)
    _reflected(house)
    of = house.services.keys.of("harold")
    client.hset(of.record(Scope("harold")), "proposed_until", 1)
    if stopped == "paused":
        house.om.pause("harold")
    else:
        house = _house(client, prefix, read_only="true")

    assert house.reflector().reflect("harold") is Outcome.REST
    assert house.om.generations("harold") == []
    if stopped == "paused":
        house.om.resume("harold")
        house.settle()
        assert len(house.om.generations("harold")) == 1


def test_what_is_sent_back_is_thought_again_below_every_threshold(client, prefix):
    """It was asked for by hand: nothing but the reviewer's word makes it due."""
    house = _house(client, prefix)
    _observed(house)
    _reflected(house)
    house.om.send_back("harold", comment="zebrafinch")
    client.delete(str(house.services.keys.due_reflect.of("harold")))  # who marked it was lost
    client.zadd(str(house.services.keys.resources.of("harold")), {"harold": 1})
    house.sweep()
    house.settle()

    assert "zebrafinch" in house.model.requests[-1].prompt
    assert house.om.proposal("harold")
    asked = len(house.model.requests)
    house.om.send_back("harold", comment="")
    house.settle()
    assert len(house.model.requests) > asked
    assert "zebrafinch" not in house.model.requests[-1].prompt


def test_a_reviewer_may_have_something_left_out(client, prefix):
    """Catches a model that is pressed to write what its reviewer wants gone."""
    house = _house(client, prefix)
    house.say("Harold pays with card 4970 1234 in Lerwick", tokens=600)
    _observed(house)
    _reflected(house)
    house.om.send_back("harold", comment="without the card")
    house.model = Scripted(*["<observations>\n* 🔴 Harold pays in Lerwick\n</observations>"] * 4)
    house.settle()

    assert len(house.model.requests) == 1
    assert house.om.proposal("harold").generation.loss > house.settings.memory.reflection.max_loss


def test_of_two_that_think_at_once_one_is_put_up(client, prefix):
    house = _house(client, prefix)
    _observed(house)
    other = house.new_services()
    fast = Scripted.echo()

    def overtaken(request):
        house.model = fast
        client.delete(*client.scan_iter(f"{prefix}:*lock:reflect*"))
        assert type(house.reflector())(other).reflect("harold") is Outcome.PROPOSED
        return "<observations>\n* slow\n</observations>"

    house.model = Scripted(overtaken)
    house.om.force_reflect("harold")
    assert house.reflector().reflect("harold") is Outcome.SUPERSEDED
    assert house.om.proposal("harold").generation.text != "* slow"
