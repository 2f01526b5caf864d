"""A resource's whole memory, as a file of JSON lines."""

from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect

from om_api.domain.api_keys import Role
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import LINES, answers, reply, sends, takes_lines
from om_api.http.serving.limits import MAX_IMPORT
from om_api.store.backup.importing import Imported

router = APIRouter(prefix="/v1/resources/{resource}", tags=["export and import"], route_class=Guarded)


@router.get(
    "/export",
    **needs(Role.OPERATOR, audited="exported"),
    **sends(LINES, examples.EXPORTED),
    response_class=StreamingResponse,
)
async def export_memory(request: Request, resource: ResourceId) -> Response:
    """A resource's whole memory as of one instant. The last line proves that the file is whole."""
    pieces = (await memory_of(request, resource)).export_memory(resource)
    first = await anext(pieces)  # whoever cannot be read is refused before anything is sent
    name = {"Content-Disposition": f'attachment; filename="{resource}.jsonl"'}
    return StreamingResponse(_led_by(first, pieces), headers=name, media_type=LINES)


async def _led_by(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece


@router.post(
    "/import",
    **needs(Role.OPERATOR, most=MAX_IMPORT, waits=True, audited="imported", **takes_lines(examples.EXPORTED)),
    **answers(Imported, examples.IMPORTED),
)
async def import_memory(request: Request, resource: ResourceId) -> Response:
    """Make an exported memory that of a resource, which must hold nothing.

    It is there at once and whole, or not at all. A file that was cut off or changed, and a resource that holds anything, are
    refused. Whose memory it was makes no difference.
    """
    return reply(await memory(request).import_memory(_sent(request), resource))


async def _sent(request: Request) -> AsyncIterator[bytes]:
    """What came of the body; whoever hangs up has sent a file without its last line."""
    with suppress(ClientDisconnect):
        async for piece in request.stream():
            yield piece
