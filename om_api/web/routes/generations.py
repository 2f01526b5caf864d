"""The reflections of a memory over time: how it stood at each generation, and what changed between two, word by word."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from om_api.client.partly import Partly
from om_api.domain.errors import NotFoundError
from om_api.domain.notes.word_diff import word_diff
from om_api.domain.values import Generation
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.web.pages.page_route import PageRoute, may, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import page

GroupName = Annotated[str, Path(max_length=40)]
router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)


@router.get("/generations", **shows())
async def show_generations(
    request: Request, resource: ResourceId, now: int | None = None, before: int | None = None, thread: OfThread = None
) -> Response:
    """Generation `now` (else the one in force) beside `before` (else the one before it)."""
    memory = await reader_of(request, resource)
    threads = [each.id for each in await memory.threads(resource, archived=None)]
    kept = await memory.generations(resource, thread)
    if thread is None and threads and len({each.n for each in kept}) < len(kept):  # a memory for each thread
        thread = threads[0]
        kept = await memory.generations(resource, thread)
    found = {each.n: each for each in kept}
    numbers = sorted(found)
    late = _chosen(found, now, numbers[-1]) if numbers else None
    early = _earlier(found, before, late) if late else None
    changes = await asyncio.to_thread(word_diff, early.text if early else "", late.text) if late else []
    replaced = await memory.replaced(late.n, resource, thread) if late else Partly()
    return page(
        request,
        "generations.html",
        resource=resource,
        thread=thread,
        threads=threads,
        numbers=numbers,
        now=late,
        before=early,
        changes=changes,
        replaced=replaced,
        partial=kept.partial or replaced.partial,
        may=may(request),
    )


@router.get("/groups", **shows())
async def show_groups(request: Request, resource: ResourceId, thread: OfThread = None) -> Response:
    """What was set aside in groups, the newest first."""
    memory = await reader_of(request, resource)
    found = await memory.groups(resource, thread)
    newest = list(reversed(found))
    return page(request, "groups.html", resource=resource, group=None, groups=newest, partial=found.partial)


@router.get("/groups/{group}", **shows())
async def show_group(request: Request, resource: ResourceId, group: GroupName) -> Response:
    """The notes of one group, word for word."""
    memory = await reader_of(request, resource)
    notes = await memory.group(group, resource)
    return page(request, "groups.html", resource=resource, group=group, notes=notes, partial=notes.partial)


def _chosen(found: dict[int, Generation], asked: int | None, usual: int) -> Generation:
    number = usual if asked is None else asked
    if number not in found:
        kept = ", ".join(map(str, found))
        raise NotFoundError(f"There is no generation {number} (any more): {kept} are kept.")
    return found[number]


def _earlier(found: dict[int, Generation], asked: int | None, late: Generation) -> Generation | None:
    if asked:
        return _chosen(found, asked, asked)
    return found.get(late.n - 1)
