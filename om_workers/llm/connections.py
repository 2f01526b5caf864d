"""What all providers' connections have in common."""

from typing import Any

import httpx2

from om_api.domain.errors import SettingsError

LIMITS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=1_000)  # more than any worker has threads
NO_KEY = "none"  # a server without keys minds none, but no SDK works without one
LARGEST_MB = 16  # no answer in words comes near it; a few hundred kB of gzip may be gigabytes, and end the worker
_OF_THE_BODY = {b"content-encoding", b"content-length", b"transfer-encoding"}  # as it came, not as it was read


class TooLargeError(Exception):
    """A server said more than is read."""


class WaryClient(httpx2.AsyncClient):
    """Trusts no server: reads so much of an answer and no more, and goes where it was told to go and nowhere else.

    A redirect would show a stranger what was said, and the key where it stands in a header of the provider's own.
    """

    def __init__(self) -> None:
        super().__init__(limits=LIMITS, follow_redirects=False)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Answer a request with the body read and decoded; raises TooLargeError at the first byte too many."""
        body = bytearray()
        answer = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
        try:
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > LARGEST_MB * 1_000_000:
                    raise TooLargeError
        finally:
            await answer.aclose()
        # as bytes: what a proxy says of itself may be no ASCII, and what is text is encoded as that
        headers = [(name, value) for name, value in answer.headers.raw if name.lower() not in _OF_THE_BODY]
        return httpx2.Response(answer.status_code, headers=headers, content=bytes(body), request=answer.request)


def check_address(url: str) -> None:
    """Raise SettingsError for an address that no request could be sent to."""
    try:
        httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise SettingsError(f"base_url is no address ({error}); correct it") from error
