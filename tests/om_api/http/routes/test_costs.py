"""What models cost over HTTP, as the library says it, to whom it may be told."""

import pytest

from om_api.store.fleet import spending
from om_api.store.fleet.spending import Most, Need

HAROLD = "/v1/resources/harold"


def test_costs_are_those_the_library_tells(old, ask, using):
    given = ask("GET", f"{HAROLD}/costs", params={"days": 3}).json()

    assert (given["resource"], given["contexts"]) == ("harold", old.om.costs("harold", 3).contexts)
    assert using("operator", "*")("GET", "/v1/costs").json()["resource"] is None
    assert ask("GET", f"{HAROLD}/costs", params={"days": 0}).status_code == 422


@pytest.mark.parametrize(("role", "status"), [("operator", 200), ("writer", 403)])
def test_what_all_resources_cost_is_told_to_operators_of_every_resource(using, role, status):
    assert using(role, "*")("GET", "/v1/costs").status_code == status


def test_the_costliest_agents_are_told_to_whom_they_belong(world, using):
    for name, micros in (("harold", 7), ("ada", 9)):
        run, keys, day = world.services.run, world.services.keys, spending.day_of(world.om.ping())
        run(spending.reserve(keys, world.services.clock, name, "e", Need(), Most(), Most()))
        bill = {spending.field("m", "observe", what): n for what, n in (("micros", micros), ("calls", 1))}
        run(spending.settle(keys, day, name, "e", Need(1, micros), bill))
    every = using("reader", "*")("GET", "/v1/costs/agents").json()
    own = using("reader", "harold")("GET", "/v1/costs/agents", params={"days": 2}).json()

    assert [agent["resource"] for agent in every["agents"]] == ["ada", "harold"]
    assert ([agent["resource"] for agent in own["agents"]], own["cost"]) == (["harold"], 7e-06)
