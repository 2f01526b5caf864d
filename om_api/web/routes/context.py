"""What an agent's model reads before its next turn, exactly, with the tokens of each part, and since when it stayed the same."""

from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request, Response

from om_api.context import Block
from om_api.domain.errors import InvalidInputError
from om_api.domain.events import Event
from om_api.http.requests.guard import composing
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.language.words import amount
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader_of, thread_of
from om_api.web.pages.rendering import page

router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)
_CHANGES = {
    "activated": "grew at its end: {chunks} became observations",
    "reflected": "was written anew: generation {generation}",
    "restored": "was written anew: the text of generation {generation} was brought back",
    "cleared": "was cleared",
    "forgotten": "lost an observation",
    "erased": "lost what was erased",
}
_SHOWN = 20
Names = Annotated[str, Query(max_length=2_000)]


class ContextPart(NamedTuple):
    """Blocks of one kind: their tokens, and whether prompt caches find them again until the memory changes."""

    kind: str
    tokens: int
    blocks: int
    stable: bool


@router.get("/context", **shows())
async def show_context(request: Request, resource: ResourceId, thread: OfThread = None, also: Names = "") -> Response:
    """The blocks as they are, by part, and what changed the beginning lately; with the notes of other memories."""
    memory = await reader_of(request, resource)
    threads = sorted(await memory.threads(resource, archived=None), key=lambda each: -each.at)
    chosen = await thread_of(memory, resource, thread) or (threads[0].id if threads else None)
    problem, others = "", composing(request, also.split())
    try:
        found = await memory.get_context(chosen, resource, **others) if chosen else None
    except InvalidInputError as error:
        found, problem = await memory.get_context(str(chosen), resource, **{**others, "also": []}), str(error)
    told = await memory.events(kinds=[*_CHANGES], resource_id=resource, count=_SHOWN)
    return page(
        request,
        "context.html",
        resource=resource,
        thread=chosen,
        threads=threads,
        context=found,
        also=also,
        problem=problem,
        parts=_parts(found.blocks) if found else [],
        changes=[(event.at, _said(event)) for event in reversed(told.events)],
    )


def _parts(blocks: tuple[Block, ...]) -> list[ContextPart]:
    kinds = dict.fromkeys((_kind(block), block.stable) for block in blocks)
    found = {each: [block for block in blocks if (_kind(block), block.stable) == each] for each in kinds}
    return [
        ContextPart(kind, sum(one.tokens for one in each), len(each), stable) for (kind, stable), each in found.items()
    ]


def _kind(block: Block) -> str:
    return f"{block.kind} of {block.resource_id}" if block.resource_id else block.kind


def _said(event: Event) -> str:
    return _CHANGES[event.kind].format(chunks=amount(event.chunks or 0, "chunk"), generation=event.generation)
