"""The tool that tells how a memory is, or whose memories there are."""

import time
from typing import Annotated

from om_api.client.stats import Stats
from om_api.domain.api_keys import EVERY, Role
from om_api.mcp.arguments import ANY_NAME, FEW, Arguments, Cursor, an_id, bounded_by
from om_api.mcp.pages import list_of
from om_api.mcp.tool import MemoryTool, ToolServices
from om_api.mcp.turns import when


class GetStatus(Arguments):
    """Tell how full a memory is, and whether notes are being made of what was said.

    Without a resource_id, tell whose memories there are.
    """

    resource_id: Annotated[str | None, an_id("whose memory; leave it out to be told whose there are"), ANY_NAME] = None
    max_tokens: int = bounded_by(FEW)
    cursor: Cursor = ""


async def status(services: ToolServices, asked: GetStatus) -> str:
    """How one memory is, or a page of names."""
    if not asked.resource_id:
        return await _names(services, asked)
    resource = asked.resource_id
    if not await services.memory.is_known(resource):
        return f"Nothing is kept of {resource} yet, or all of it was cleared. Check the name."
    found = await services.memory.stats(resource)
    return "\n".join(_told(found, services)) if isinstance(found, Stats) else ""


async def _names(services: ToolServices, asked: GetStatus) -> str:
    key = services.caller.key
    known = {name for name in await services.memory.resources() if key.covers(name)} | {*key.resources} - {EVERY}
    rest = sorted(name for name in known if name > asked.cursor)
    if not rest:
        return (
            "There is no further one."
            if asked.cursor
            else "No memory is known yet: whoever adds messages first names one."
        )
    return list_of(((name, name) for name in rest), asked.max_tokens, services.count)


def _told(found: Stats, services: ToolServices) -> list[str]:
    zone = services.zone(found.resource)
    now = f"{when(int(time.time() * 1000), zone)}, {zone.key}"
    raw = f"{found.message_tokens:,} tokens are not noted yet; at {found.message_threshold:,} they become observations"
    notes = (
        f"{found.observations} observations of {found.observation_tokens:,} tokens; at {found.observation_threshold:,}"
    )
    at_work = [word for word, is_so in (("observing", found.observing), ("reflecting", found.reflecting)) if is_so]
    held = [
        *(["It is paused: nothing is noted until om resume."] if found.paused else ()),
        *([f"A budget is used up: {found.budget_reached}."] if found.budget_reached else ()),
        *([f"{found.rejected} messages could not be noted: om rejected lists them."] if found.rejected else ()),
    ]
    return [
        f"{found.resource}, {now}. Threads: {found.threads:,}.",
        f"Messages: {raw}.",
        f"Notes: {notes} they are condensed. Generation {found.generation}: {found.reflection_tokens:,} tokens.",
        f"Workers: {' and '.join(at_work) or ('work is due' if found.due else 'nothing is due')}.",
        *held,
    ]


TOOLS = (MemoryTool("status", "How the memory is", Role.READER, GetStatus, status),)
