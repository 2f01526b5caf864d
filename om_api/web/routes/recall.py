"""Looking the past up by its words, and seeing why each hit was found."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Query, Request, Response

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import ROLES
from om_api.http.requests.guard import composing
from om_api.http.requests.parameters import ResourceId
from om_api.recall.marking import excerpt
from om_api.recall.query import Query as Wanted
from om_api.recall.recalled import HITS, KINDS, Recalled, RecalledHit
from om_api.web.pages.marking import Marked, marked
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import page

router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)
Text = Annotated[str, Query(max_length=2_000)]
Short = Annotated[str, Query(max_length=200)]
_LONGEST = 4_000  # characters shown of a hit
_LONGEST_TURN = 1_000  # and of a message before or after it
Offset = Annotated[int, Query(ge=0, le=10_000)]


class Question(NamedTuple):
    """What the form says; "" for whatever it leaves open."""

    query: str
    thread: str
    role: str
    kind: str
    after: str
    before: str
    offset: int
    also: str

    async def answered(
        self, memory: AsyncObservationalMemory, resource: str, others: dict[str, Any]
    ) -> Recalled | None:
        """What is found; None where nothing was asked. Raises InvalidInputError."""
        if not self.query.strip():
            return None
        return await memory.recall(
            self.query,
            resource,
            thread_id=self.thread or None,
            roles=[self.role] if self.role else [],
            kinds=[self.kind],
            after=self.after or None,
            before=self.before or None,
            offset=self.offset,
            limit=HITS,
            **others,
        )


async def _question(
    query: Text = "",
    thread: Short = "",
    role: Short = "",
    kind: Short = KINDS[0],
    after: Short = "",
    before: Short = "",
    offset: Offset = 0,
    also: Text = "",
) -> Question:
    return Question(query, thread, role, kind, after, before, offset, also)


@router.get("/recall", **shows())
async def show_recall(
    request: Request, resource: ResourceId, asked: Annotated[Question, Depends(_question)]
) -> Response:
    """A search box with its filters, and what was found, each hit in its surroundings."""
    memory = await reader_of(request, resource)
    found, problem = None, ""
    try:
        found = await asked.answered(memory, resource, composing(request, asked.also.split()))
    except InvalidInputError as error:
        problem = str(error)
    shown: dict[str, Any] = {"found": found, "problem": problem, "asked": asked}
    hits = await asyncio.to_thread(_excerpts, found.hits) if found else []
    threads = [each.id for each in await memory.threads(resource, archived=None)]
    shown |= {"threads": threads, "roles": ROLES, "kinds": KINDS, "hits": hits, "most": _LONGEST_TURN}
    return page(request, "recall.html", resource=resource, **shown)


def _excerpts(hits: Sequence[RecalledHit]) -> list[tuple[RecalledHit, list[Marked]]]:
    """Each hit with the part of its text that has most of the words found, these marked."""
    return [(hit, marked(excerpt(hit.text, Wanted(words=hit.matched), _LONGEST), hit.matched)) for hit in hits]
