"""A request whose body is read no further than is permitted, whatever its headers say of its length."""

from fastapi import HTTPException, Request
from starlette.types import Message


def bounded(request: Request, most: int) -> Request:
    """The same request; reading more than `most` bytes of it raises HTTPException 413."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)
    read = 0

    async def receive() -> Message:
        nonlocal read
        message = await request.receive()
        read += len(message.get("body", b""))
        if read > most:
            raise _too_large(most)
        return message

    return Request(request.scope, receive)


def _too_large(most: int) -> HTTPException:
    return HTTPException(
        413, f"the body is larger than the {most:,} bytes that are permitted: send it in several requests"
    )
