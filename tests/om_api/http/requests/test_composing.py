"""What the settings compose is shown over HTTP to keys that are bound to it, and to no other."""

import pytest
from world import SMALL, World

from om_api import load_settings

THREAD = "/v1/resources/harold/threads/t-1"
COMPOSED = "[{resource: albert}, {resource: berta}]"


@pytest.fixture
def settings(server_url, prefix):
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_COMPOSE": COMPOSED})


@pytest.fixture(autouse=True)
def noted(client, prefix):
    world = World(client, prefix)
    for resource in ("harold", "albert", "berta"):
        world.say(f"the vault of {resource} is blue", resource=resource, thread=f"of-{resource}")
        world.om.force_observe(f"of-{resource}", resource)
        world.settle()


def test_a_context_shows_the_notes_of_those_that_the_key_is_bound_to(using):
    found = using("reader", "harold", "albert")("GET", f"{THREAD}/context").json()

    assert ("of albert is blue" in found["context"], "berta" in found["context"]) == (True, False)
    assert (list(found["composed"]), list(found["left_out"])) == (["albert"], ["berta"])
    assert "not bound to it" in found["left_out"]["berta"]


def test_recall_looks_in_the_memories_of_those_that_the_key_is_bound_to(using):
    ask = using("reader", "harold", "albert")
    found = ask("GET", "/v1/resources/harold/recall", params={"q": "vault"}).json()
    answer = ask("POST", "/v1/resources/harold/recall-tool", json={"query": "vault"}).json()["text"]

    assert {hit["resource_id"] for hit in found["hits"]} == {"harold", "albert"}
    assert ("of albert, message" in answer, "of berta, message" in answer) == (True, False)
