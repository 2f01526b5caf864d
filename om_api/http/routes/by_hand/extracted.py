"""What extractors found beside the notes, as values."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.values import ExtractedValue
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.http.requests.replies import answers, rendered

router = APIRouter(prefix="/v1/resources/{resource}/extracted", tags=["observations"], route_class=Guarded)
_FOUND = {
    "contacts": ExtractedValue(
        value={"Dr. Weber": "the user's doctor, weber@example.org"},
        at=1_763_630_500_000,
        observation_id=examples.OBSERVATION.id,
    )
}


@router.get("", **needs(Role.READER), **answers(dict[str, ExtractedValue], _FOUND))
async def read_extracted(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """What the agent's extractors found, by their names: of a thread and of the whole memory, or of this alone."""
    found = await memory(request).extracted(resource, thread_id)
    return await rendered(lambda: found)
