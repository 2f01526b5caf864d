"""A request whose body is read no further than is permitted, whatever its headers say of its length."""

from fastapi import HTTPException, Request
from starlette.types import Message

from om_api.http.limits import MAX_BODY


def bounded(request: Request) -> Request:
    """The same request; reading more than MAX_BODY bytes of it raises HTTPException 413."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > MAX_BODY:
        raise _too_large()
    read = 0

    async def receive() -> Message:
        nonlocal read
        message = await request.receive()
        read += len(message.get("body", b""))
        if read > MAX_BODY:
            raise _too_large()
        return message

    return Request(request.scope, receive)


def _too_large() -> HTTPException:
    return HTTPException(
        413, f"the body is larger than the {MAX_BODY:,} bytes that are permitted: send it in several requests"
    )
