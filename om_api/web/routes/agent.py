"""One agent: its memory as it stands, where each line came from, and what may be done to it."""

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Annotated, Any, NamedTuple, cast
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.client.stats import Stats
from om_api.context.kept import as_text
from om_api.context.view import local_time
from om_api.domain.errors import NotFoundError
from om_api.domain.messages import Message
from om_api.domain.values import Chunk, Observation, ThreadState
from om_api.http.requests.parameters import ObservationId, OfThread, ResourceId
from om_api.web.pages.page_route import PageRoute, may, shows
from om_api.web.pages.reader import reader_of, thread_of
from om_api.web.pages.rendering import page

router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)
_MESSAGES = 200  # of a thread that a page shows, the newest
_OBSERVATIONS = 200
_BESIDE = 5
MessageId = Annotated[str, Query(max_length=200)]


class ThreadDay(NamedTuple):
    """What was said on one day, by the agent's calendar."""

    name: str
    messages: list[Message]


@router.get("", **shows())
async def show_agent(request: Request, resource: ResourceId, thread: OfThread = None) -> Response:
    """The memory as it stands: raw messages of a thread, chunks, observations, and the reflection in force."""
    memory = await reader_of(request, resource)
    threads = await _threads(memory, resource)
    chosen = await thread_of(memory, resource, thread) or (threads[0].id if threads else None)
    stats = cast(Stats, await memory.stats(resource))
    own = chosen if stats.scope == "thread" else None
    generations = await memory.generations(resource, own) if stats.scope == "resource" or own else []
    observations = await memory.observations(resource, own)
    messages = await memory.messages(resource, chosen, newest=_MESSAGES) if chosen else []
    chunks = await memory.chunks(resource, own)
    of_thread = next((each for each in threads if each.id == chosen), None)
    return page(
        request,
        "agent.html",
        resource=resource,
        stats=stats,
        threads=threads,
        thread=chosen,
        of_thread=of_thread,
        days=_days(messages, memory.settings.for_agent(resource).timezone),
        left_out=_left_out(of_thread, chunks, len(messages)),
        chunks=chunks,
        observations=observations[-_OBSERVATIONS:],
        observations_left_out=max(0, len(observations) - _OBSERVATIONS),
        generations=generations,
        **await _pinned(memory, resource, own),
        may=may(request),
        **await _kept(memory, resource, chosen),
    )


async def _pinned(memory: AsyncObservationalMemory, resource: str, thread: str | None) -> dict[str, Any]:
    pins = await memory.pins(resource, thread)
    return {"pins": pins, "pinned": {pin.text for pin in pins}}


async def _threads(memory: AsyncObservationalMemory, resource: str) -> list[ThreadState]:
    """All threads, those heard of last first, archived ones behind the others."""
    found = await memory.threads(resource, order="activity", archived=None)
    return sorted(found, key=lambda each: each.archived_at > 0)


async def _kept(memory: AsyncObservationalMemory, resource: str, thread: str | None) -> dict[str, Any]:
    """The working memory, with the fields that it has, and what extractors found."""
    form = memory.settings.for_agent(resource).working_memory.form()
    own = thread if form and form.of == "thread" else None
    working = await memory.working_memory(resource, own) if form and (own or form.of == "resource") else None
    extracted = await memory.extracted(resource, thread)
    return {
        "form": form,
        "working": working,
        "extracted": {slug: (as_text(each.value), each.at) for slug, each in extracted.items()},
    }


@router.get("/observations/{observation}", **shows())
async def show_sources(request: Request, resource: ResourceId, observation: ObservationId) -> Response:
    """An observation, and the messages behind it; raises NotFoundError where it is not kept."""
    memory = await reader_of(request, resource)
    kept = [each async for each in _observations(memory, resource) if each.observation.id == observation]
    messages = await memory.sources(observation, resource)
    if not kept and not messages and not messages.partial:
        raise NotFoundError(f"{resource} keeps no observation {observation}: it was removed, or it has expired")
    return page(request, "sources.html", resource=resource, kept=kept[:1], messages=messages)


@router.get("/messages/{message}", **shows())
async def show_message(request: Request, resource: ResourceId, message: str, thread: OfThread = None) -> Response:
    """A message in its thread, and what stands for it in a context."""
    memory = await reader_of(request, resource)
    found = await memory.browse(message, resource, before=_BESIDE, after=_BESIDE, thread_id=thread)
    covers = await _covering(memory, resource, message)
    return page(request, "message.html", resource=resource, id=message, found=found, covers=covers)


class KeptObservation(NamedTuple):
    """An observation, and the generation that has taken it in, 0 while none has."""

    observation: Observation
    generation: int


async def _observations(memory: AsyncObservationalMemory, resource: str) -> AsyncIterator[KeptObservation]:
    """All that are kept: those in force, then what was replaced, the latest first."""
    for each in await memory.observations(resource):
        yield KeptObservation(each, 0)
    for era in reversed(await memory.history(resource)):
        for each in era.replaced:
            yield KeptObservation(each, era.generation.n)


async def _covering(memory: AsyncObservationalMemory, resource: str, message: str) -> KeptObservation | None:
    """What stands for a message in a context; None while it is read as it was said, or where that is no longer known."""
    kept = _observations(memory, resource)
    return await anext((each async for each in kept if message in each.observation.message_ids), None)


def _left_out(thread: ThreadState | None, chunks: Sequence[Chunk], shown: int) -> int:
    """How many of a thread's raw messages are not among those shown."""
    if thread is None:
        return 0
    sealed = sum(chunk.messages for chunk in chunks if chunk.thread == thread.id)
    return max(0, thread.messages + sealed - shown)


def _days(messages: Sequence[Message], timezone: str) -> list[ThreadDay]:
    zone = ZoneInfo(timezone)
    return [
        ThreadDay(name, list(group))
        for name, group in groupby(messages, lambda each: f"{local_time(each.at, zone):%A, %Y-%m-%d}")
    ]
