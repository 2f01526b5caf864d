"""A body is read no further than is permitted."""

from __future__ import annotations

from refusals import problem

from om_api.http.serving.limits import MAX_BODY, SMALL_BODY

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
JSON = {"Content-Type": "application/json"}


def test_a_body_that_adds_no_messages_is_small(ask):
    assert ask("POST", f"{HAROLD}/observe", content=b" " * (SMALL_BODY + 1), headers=JSON).status_code == 413


def test_a_body_that_is_too_large_is_refused_as_it_comes(ask):
    def pieces():
        yield b'{"messages": ["'
        for _ in range(MAX_BODY // 65_536 + 1):
            yield b"x" * 65_536

    for body in (b"x" * (MAX_BODY + 1), pieces()):
        assert f"{MAX_BODY:,}" in problem(ask("POST", MESSAGES, content=body, headers=JSON), 413)["detail"]
