"""Looking the past up by its words, and seeing why each hit was found."""

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from om_api.domain.errors import InvalidInputError
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.recall.recalled import KINDS, RecalledHit
from om_api.web.marking import Marked, marked
from om_api.web.page_route import PageRoute, shows
from om_api.web.reader import reader_of
from om_api.web.rendering import page

router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)
_HITS = 10
_ROLES = ("user", "assistant", "tool", "system")
Words = Annotated[str, Query(max_length=2_000)]
Moment = Annotated[str, Query(max_length=40)]


@router.get("/recall", **shows())
async def show_recall(
    request: Request,
    resource: ResourceId,
    query: Words = "",
    thread: OfThread | Literal[""] = None,
    role: str = "",
    kind: str = "message",
    after: Moment = "",
    before: Moment = "",
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
) -> Response:
    """A search box with its filters, and what was found, each hit in its surroundings."""
    memory = await reader_of(request, resource)
    found, problem = None, ""
    if query.strip():
        try:
            found = await memory.recall(
                query,
                resource,
                thread_id=thread or None,
                roles=[role] if role else [],
                kinds=[kind],
                after=after or None,
                before=before or None,
                offset=offset,
                limit=_HITS,
            )
        except InvalidInputError as error:
            problem = str(error)
    asked = {
        "query": query, "thread": thread or "", "role": role, "kind": kind, "after": after, "before": before,
    }  # fmt: skip
    return page(
        request,
        "recall.html",
        resource=resource,
        asked=asked,
        threads=[each.id for each in await memory.threads(resource)],
        roles=_ROLES,
        kinds=KINDS,
        found=found,
        hits=list(_shown(found.hits)) if found else [],
        problem=problem,
    )


def _shown(hits: tuple[RecalledHit, ...]) -> Iterator[tuple[RecalledHit, list[Marked]]]:
    for hit in hits:
        yield hit, marked(hit.text, hit.matched)
