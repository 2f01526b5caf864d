"""Groups over HTTP: their list, in pages, and the notes of one."""

import pytest
from refusals import problem
from world import World

HAROLD = "/v1/resources/harold"


@pytest.fixture
def groups(world):
    for n in range(3):
        world.om.add_line(f"fact {n} about the harbour", "harold", f"t-{n}")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    return house.om.groups("harold")


def test_groups_are_listed_in_pages_and_read_by_their_names(groups, ask, walk):
    assert len(groups) == 3
    for limit in (1, 500):
        assert [each["heading"] for each in walk(f"{HAROLD}/groups", limit=limit)] == [each.heading for each in groups]
    (note,) = ask("GET", f"{HAROLD}/groups/{groups[0].id}").json()["items"]

    assert note["group"] == groups[0].id
    assert "about the harbour" in note["text"]
    assert [each["id"] for each in ask("GET", f"{HAROLD}/groups", params={"thread_id": "t-1"}).json()["items"]] == [
        each.id for each in groups if each.thread_id == "t-1"
    ]
    assert ask("GET", f"{HAROLD}/groups", params={"within": "1999"}).json()["items"] == []


def test_what_is_no_group_is_refused(groups, ask):
    assert "keeps no group" in problem(ask("GET", f"{HAROLD}/groups/aaaaaaaa"), 404)["detail"]
    assert "a month such as" in problem(ask("GET", f"{HAROLD}/groups/..%5cx"), 422)["detail"]
    assert "several groups" in problem(ask("GET", f"{HAROLD}/groups/2026-03"), 422)["detail"]


def test_a_model_opens_a_group_by_its_call(groups, ask):
    call = {"name": "recall", "args": {"query": "x", "group": groups[0].id}}

    assert "about the harbour" in ask("POST", f"{HAROLD}/recall-tool", json=call).json()["text"]


def test_what_was_set_aside_is_found_by_words(groups, ask):
    (hit,) = ask("GET", f"{HAROLD}/recall", params={"q": "fact 1 harbour", "limit": 1}).json()["hits"]

    assert (hit["kind"], hit["covered_by"].split()[0]) == ("observation", "group")
