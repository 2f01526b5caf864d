"""Reviews over HTTP: an operator sees and decides what the key is bound to, and the event names the key."""

import pytest
from refusals import problem
from world import World

HAROLD = "/v1/resources/harold/review"


@pytest.fixture
def world(client, prefix) -> World:
    house = World(client, prefix, reflection__review="ask", reflection__drain="false")
    for resource in ("harold", "ada"):
        for n in range(12):
            house.say(f"message {n} " + "x" * 40, resource=resource)
            house.tick()
        house.settle()
        house.om.force_reflect(resource)
    house.settle()
    return house


def test_what_waits_is_listed_to_whoever_is_bound_to_it(world, ask, using):
    (listed,) = ask("GET", "/v1/reviews").json()["items"]

    assert (listed["resource"], listed["id"]) == ("harold", world.om.proposal("harold").id)
    every = using("operator", "*")("GET", "/v1/reviews").json()["items"]
    assert {each["resource"] for each in every} == {"harold", "ada"}


def test_a_page_ends_where_the_next_begins(world, using):
    ask, seen, cursor = using("operator", "*"), [], ""
    for _ in range(2):
        page = ask("GET", f"/v1/reviews?limit=1{cursor}").json()
        seen += [each["resource"] for each in page["items"]]
        cursor = f"&cursor={page['next']}"
    assert sorted(seen) == ["ada", "harold"]
    assert page["next"] is None


def test_a_reflection_is_read_and_approved(world, ask):
    found = ask("GET", HAROLD).json()
    assert found["generation"]["text"] == world.om.proposal("harold").generation.text
    assert ask("POST", f"{HAROLD}/approve", json={"id": "another"}).json() == {"outcome": "superseded"}
    approved = ask("POST", f"{HAROLD}/approve", json={"id": found["id"], "text": "* Ada is his sister."})

    assert approved.json() == {"outcome": "reflected"}
    assert world.om.generations("harold")[0].text == "* Ada is his sister."
    told = {event.kind: event for event in world.om.events().events}
    assert len(told["review_approved"].by) >= 8  # the key's id
    assert "waits for a review" in problem(ask("GET", HAROLD), 404)["detail"]
    assert ask("POST", f"{HAROLD}/approve").json() == {"outcome": "superseded"}


def test_a_reflection_is_sent_back(world, ask):
    done = ask("POST", f"{HAROLD}/send-back", json={"comment": "no zebrafinch"})
    assert done.json() == {"outcome": "sent_back"}
    world.settle()

    assert any("no zebrafinch" in request.prompt for request in world.model.requests)
    assert problem(ask("POST", f"{HAROLD}/send-back", json={"comment": "x" * 8_001}), 422)


@pytest.mark.parametrize(("role", "resources"), [("writer", "harold"), ("reader", "harold"), ("operator", "ada")])
def test_who_is_no_operator_of_it_sees_and_decides_nothing(world, using, role, resources):
    ask = using(role, resources)
    for method, path in (("GET", HAROLD), ("POST", f"{HAROLD}/approve"), ("POST", f"{HAROLD}/send-back")):
        assert ask(method, path).status_code == 403
    assert world.om.proposal("harold")
