"""Pins over HTTP: operators pin and let go, readers see what is pinned."""

import pytest

PINS = "/v1/resources/harold/pins"


@pytest.fixture
def noted(world):
    """A memory with a line to pin."""
    world.om.add_line("User never flies", "harold", "t-1", priority=5)
    return world


def test_a_line_is_pinned_listed_and_let_go(ask, using, noted):
    done = ask("POST", PINS, json={"line": "User never flies"})
    again = ask("POST", PINS, json={"line": "User never flies", "thread_id": "t-1"})
    pin = done.json()["pin"]

    assert (done.status_code, done.json()["outcome"], again.json()) == (200, "pinned", {"outcome": "rest", "pin": pin})
    assert (pin["text"], pin["thread"], pin["by"] != "") == ("* 🔴 User never flies", "t-1", True)
    assert using("reader", "harold")("GET", PINS).json() == {"items": [pin], "next": None}
    assert ask("GET", f"{PINS}?thread_id=t-2").json()["items"] == []
    assert ask("DELETE", f"{PINS}/{pin['id']}").json() == {"outcome": "unpinned", "pin": pin}
    assert noted.om.pins("harold") == []


def test_what_stands_nowhere_or_is_not_pinned_is_not_found(ask, using, noted):
    assert "add it first" in ask("POST", PINS, json={"line": "User owns a boat"}).json()["detail"]
    assert ask("DELETE", f"{PINS}/p-1").status_code == 404
    nobody = using("operator", "*")("POST", "/v1/resources/nobody/pins", json={"line": "x"})
    assert nobody.status_code == 404


def test_only_operators_pin(using, noted):
    writer = using("writer", "harold")

    assert writer("POST", PINS, json={"line": "User never flies"}).status_code == 403
    assert writer("DELETE", f"{PINS}/p-1").status_code == 403
