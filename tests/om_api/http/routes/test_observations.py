"""Observations over HTTP: of a whole resource, or of one thread."""

from attacks import planted
from refusals import problem

HAROLD = "/v1/resources/harold"


def test_what_a_thread_keeps_can_be_read_alone(full, walk):
    found = walk(f"{HAROLD}/observations", thread_id="t-1")

    assert {entry["thread_id"] for entry in found} == {"t-1"}
    assert walk(f"{HAROLD}/observations", thread_id="nobody") == []


def test_an_observation_that_is_not_there_is_not_found(full, ask):
    missing = f"{HAROLD}/observations/o-1"

    assert "has no observation o-1" in problem(ask("DELETE", missing), 404)["detail"]
    assert "has no observation o-1" in problem(ask("GET", f"{missing}/messages"), 404)["detail"]


def test_an_observation_whose_messages_have_expired_has_none_in_force_and_replaced(full, ask):
    names = [full.om.observations("harold")[0].id, full.om.replaced(1, "harold")[0].id]
    gone = full.client.delete(*(f"{full.prefix}:{{harold}}:source:{name}" for name in names))

    assert gone == 2
    for name in names:
        assert ask("GET", f"{HAROLD}/observations/{name}/messages").json() == {"items": [], "next": None}


def test_marked_ones_can_be_read_alone_and_say_how_many_lines_are(world, walk):
    planted(world)

    assert [each["marked"] for each in walk(f"{HAROLD}/observations")] == [1, 0]
    assert [each["thread_id"] for each in walk(f"{HAROLD}/observations", marked=True)] == ["t-1"]
