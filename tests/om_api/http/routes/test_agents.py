"""All agents over HTTP: what the library says, to whom it may be told."""

import pytest


@pytest.fixture
def three(world):
    for n, name in enumerate(("harold", "berta", "clara")):
        world.say(*["x"] * (n + 1), resource=name)
    world.settle()
    return world


def names(answer):
    return [agent["resource"] for agent in answer.json()["items"]]


def test_agents_come_in_pages_in_the_order_that_is_asked_for(three, using):
    ask = using("reader", "*")
    first = ask("GET", "/v1/agents", params={"sort": "pressure", "limit": 2})
    rest = ask("GET", "/v1/agents", params={"sort": "pressure", "limit": 2, "cursor": first.json()["next"]})

    assert (names(first), names(rest), rest.json()["next"]) == (["clara", "berta"], ["harold"], None)
    assert names(ask("GET", "/v1/agents", params={"sort": "resource", "descending": False, "search": "r"})) == [
        *("berta", "clara", "harold")
    ]
    assert first.json()["items"][0]["message_tokens"] == three.om.stats("clara").message_tokens


def test_a_key_is_told_of_its_own_resources_only_and_of_no_number_of_others(three, using):
    """Breaks where totals, states or the next cursor are those of everybody."""
    found = using("reader", "berta", "nobody")("GET", "/v1/agents").json()

    assert [agent["resource"] for agent in found["items"]] == ["berta"]
    assert (found["known"], found["matching"], found["read"], found["next"]) == (1, 1, 1, None)
    assert sum(found["states"].values()) == 1
    assert names(using("reader", "berta")("GET", "/v1/agents", params={"search": "clara"})) == []


@pytest.mark.parametrize("params", [{"sort": "size"}, {"state": "asleep"}, {"limit": 0}, {"cursor": "x"}])
def test_what_cannot_be_asked_is_refused(using, params):
    assert using("reader", "*")("GET", "/v1/agents", params=params).status_code == 422


def test_while_somebody_looks_the_server_reads_on_by_itself(three, using, app, wait_until):
    ask = using("reader", "*")
    assert names(ask("GET", "/v1/agents")) == ["clara", "berta", "harold"]

    three.om.pause("berta")
    table = app.app.state.app_state.memory._core.agents._table
    wait_until(lambda: table.states()["paused"] == 1, "the table to hear of a pause although nobody asked again")
