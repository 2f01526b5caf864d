"""Hooks over HTTP: an operator sees an agent's; a context that one stops is a 503, to be asked for again."""

import pytest
from hook_house import hooked, hooks_installed
from refusals import problem
from world import SMALL

from om_api import load_settings

HAROLD = "/v1/resources/harold"


@pytest.fixture
def settings(server_url, prefix, monkeypatch):
    named = {f"OM_{name.upper()}": text for name, text in hooked("before_context", "stops", on_failure="stop").items()}
    with hooks_installed(monkeypatch) as house:
        house.install(stops=lambda _: 1 / 0)
        yield load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, **named})


def test_an_operator_sees_them_and_nobody_else(ask, using):
    (state,) = ask("GET", f"{HAROLD}/hooks").json()

    assert (state["point"], state["name"], state["on_failure"]) == ("before_context", "stops", "stop")
    assert (state["ready"], state["failures"]) == (True, 0)
    problem(using("writer", "harold")("GET", f"{HAROLD}/hooks"), 403)
    problem(using("operator", "lotte")("GET", f"{HAROLD}/hooks"), 403)


def test_a_context_that_a_hook_stops_is_to_be_asked_for_again(ask, say):
    say("m-1")
    refused = ask("GET", f"{HAROLD}/threads/t-1/context")

    assert "om hooks list harold" in problem(refused, 503)["detail"]
    assert refused.headers["retry-after"]
    assert ask("GET", f"{HAROLD}/hooks").json()[0]["failures"] == 1
