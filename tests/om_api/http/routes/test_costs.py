"""What models cost over HTTP, as the library says it, to whom it may be told."""

import pytest

HAROLD = "/v1/resources/harold"


def test_costs_are_those_the_library_tells(old, ask, using):
    given = ask("GET", f"{HAROLD}/costs", params={"days": 3}).json()

    assert (given["resource"], given["contexts"]) == ("harold", old.om.costs("harold", 3).contexts)
    assert using("operator", "*")("GET", "/v1/costs").json()["resource"] is None
    assert ask("GET", f"{HAROLD}/costs", params={"days": 0}).status_code == 422


@pytest.mark.parametrize(("role", "status"), [("operator", 200), ("writer", 403)])
def test_what_all_resources_cost_is_told_to_operators_of_every_resource(using, role, status):
    assert using(role, "*")("GET", "/v1/costs").status_code == status
