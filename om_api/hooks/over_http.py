"""Hooks that are servers: what is given is posted and signed as a webhook's delivery is, the answer is its body."""

import os
import secrets
import time
from http import HTTPStatus

from om_api.domain.errors import OMError
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Hook
from om_api.hooks.faults import MissingHookError
from om_api.outbound.posting import post

NOTHING = b"null"


class RefusedError(OMError):
    """A server answered with a status that is no success."""


async def ask(hook: Hook, body: bytes, *, allow_private: bool, most: int) -> bytes:
    """The body of its answer, at most `most` bytes; a 204 and an empty one say that nothing changes.

    Raises MissingHookError without a secret, NotPostedError where nobody answers, RefusedError for any status but 200 and 204.
    """
    name = f"hook_{secrets.token_hex(12)}"
    headers = signing.headers(_secret(hook.secret_env), name, int(time.time()), body)
    answer = await post(hook.url, headers, body, allow_private=allow_private, patience=hook.timeout, most=most)
    if answer.status not in {HTTPStatus.OK, HTTPStatus.NO_CONTENT}:
        raise RefusedError(f"answered {answer.status}; permitted: 200 with JSON, or 204")
    return answer.body or NOTHING


def _secret(variable: str) -> str:
    found = os.environ.get(variable, "")
    if not signing.is_secret(found):
        lacks = "holds no secret" if found else "is not set here"
        raise MissingHookError(f"{variable} {lacks}; permitted: whsec_ and the base64 of 32 random bytes")
    return found
