"""A body is read no further than is permitted, whatever its headers say."""

import asyncio

import pytest
from fastapi import HTTPException, Request
from refusals import problem

from om_api.http.requests.bounded import bounded
from om_api.http.serving.limits import MAX_BODY, SMALL_BODY

JSON = {"Content-Type": "application/json"}


def test_a_body_that_adds_no_messages_is_small(ask):
    large = b" " * (SMALL_BODY + 1)

    assert ask("POST", "/v1/resources/harold/observe", content=large, headers=JSON).status_code == 413


def test_a_body_that_is_too_large_is_refused_as_it_comes(ask):
    def pieces():
        yield b'{"messages": ["'
        for _ in range(MAX_BODY // 65_536 + 1):
            yield b"x" * 65_536

    for path in ("messages", "sync"):
        for body in (b"x" * (MAX_BODY + 1), pieces()):
            answer = ask("POST", f"/v1/resources/harold/threads/t-1/{path}", content=body, headers=JSON)
            assert f"{MAX_BODY:,}" in problem(answer, 413)["detail"]


def test_a_body_of_exactly_what_is_permitted_is_read_though_nobody_said_its_length():
    async def read(size):
        pieces = iter([{"type": "http.request", "body": b"x" * size, "more_body": False}])

        async def receive():
            return next(pieces)

        return await bounded(Request({"type": "http", "headers": []}, receive), 100, lambda _: None).body()

    assert asyncio.run(read(100)) == b"x" * 100
    with pytest.raises(HTTPException) as refused:
        asyncio.run(read(101))
    assert refused.value.status_code == 413
