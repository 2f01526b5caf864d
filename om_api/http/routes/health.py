"""Whether this process lives, and whether it can do its work; anybody may ask."""

import msgspec
from fastapi import APIRouter, Request, Response

from om_api.http.requests.app_state import memory
from om_api.http.requests.replies import answers, reply

router = APIRouter(tags=["health"])


class Health(msgspec.Struct, frozen=True):
    """One word."""

    status: str


@router.get("/healthz", **answers(Health, Health("alive"), public=True))
async def healthz() -> Response:
    """This process answers; nobody else is asked."""
    return reply(Health("alive"))


@router.get("/readyz", **answers(Health, Health("ready"), public=True))
async def readyz(request: Request) -> Response:
    """The store answers too; 503 otherwise."""
    await memory(request).ping()
    return reply(Health("ready"))
