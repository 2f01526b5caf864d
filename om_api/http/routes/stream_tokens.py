"""Tokens that open the events for a moment, where no header can be sent: what stands in an address is seen by many."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request, Response

from om_api.domain.api_keys import Proof, Role
from om_api.domain.errors import InvalidInputError
from om_api.http.requests.app_state import app_state
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.replies import answers, reply
from om_api.store.fleet.stream_tokens import LASTS_S

router = APIRouter(prefix="/v1", tags=["events"], route_class=Guarded)
GivenToken = Annotated[
    str, Query(max_length=100, description="of `POST /v1/events/token`, where no header can be sent")
]
_UNKNOWN = "this token is not known (any more): POST /v1/events/token makes another one"


class StreamToken(msgspec.Struct, frozen=True):
    """What `GET /v1/events` takes as `token`, for a stream that begins within `expires_in` seconds."""

    token: str
    expires_in: int


_EXAMPLE = StreamToken("oms_BkR0yqk1mWq0v5aYH5tq3wqk9Jm0cZ8xJ2T4h7d1nVQ", LASTS_S)


class Watched(Guarded):
    """A route that a token opens as a key does; one that is not known opens nothing, whoever sends it."""

    async def proof(self, request: Request) -> Proof | None:
        """What a request shows of its key, by its header or by a token."""
        shown, token = await super().proof(request), request.query_params.get("token")
        if shown or not token or not app_state(request).locked:
            return shown
        if known := await app_state(request).proof_of(token):
            return known
        raise HTTPException(401, _UNKNOWN, {"WWW-Authenticate": "Bearer"})


@router.post("/events/token", **needs(Role.READER), **answers(StreamToken, _EXAMPLE))
async def make_stream_token(request: Request) -> Response:
    """A token for `GET /v1/events?token=…`, where no header can be sent, as in a browser's `EventSource`.

    It opens the events that the key sees and nothing else, for a minute; a stream that has begun goes on. It ends with the key.
    """
    if not app_state(request).locked:
        raise InvalidInputError("without keys none is needed: ask for /v1/events as it is")
    made = reply(StreamToken(await app_state(request).stream_token(request.state.proof), LASTS_S))
    made.headers["Cache-Control"] = "no-store"
    return made
