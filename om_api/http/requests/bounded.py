"""A request's body, which is read no further than is permitted, whatever the headers say of its length."""

from collections.abc import Callable
from typing import Any

from fastapi import HTTPException, Request
from starlette.types import Message


class Bounded(Request):
    """A request of whose body at most so many bytes are read; `taken` is what became of it, where that was done already."""

    taken: Any = None

    async def json(self) -> Any:
        """The body, from JSON."""
        return await super().json() if self.taken is None else self.taken


def bounded(request: Request, most: int, hold: Callable[[int], None]) -> Bounded:
    """The same request; reading more than `most` bytes of it raises HTTPException 413. `hold` is told of each piece."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)
    read = 0

    async def receive() -> Message:
        nonlocal read
        message = await request.receive()
        size = len(message.get("body", b""))
        read += size
        if read > most:
            raise _too_large(most)
        hold(size)
        return message

    return Bounded(request.scope, receive)


def _too_large(most: int) -> HTTPException:
    return HTTPException(
        413, f"the body is larger than the {most:,} bytes that are permitted: send it in several requests"
    )
