"""The tools of notes: which observations there are, what was said behind one, and removing one for good."""

from typing import Annotated

from pydantic import Field

from om_api.context.recall_tool import PARTIAL
from om_api.context.share_tool import LONGEST
from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.tags import escape
from om_api.domain.values import Observation, Outcome
from om_api.mcp.arguments import ANY_NAME, FEW, Arguments, Cursor, OfThread, ResourceName, an_id, bounded_by
from om_api.mcp.pages import list_of
from om_api.mcp.tool import ADDS, REMOVES, MemoryTool, ToolServices
from om_api.mcp.turns import turns_of, when

ObservationName = Annotated[str, an_id("the id of the observation, as observations and recall name it")]


class ListObservations(Arguments):
    """List the dated notes that were made of what was said, the newest first, with their ids for sources and forget.

    What is older than they are is in the account of the past that get_context begins with.
    """

    resource_id: ResourceName
    thread_id: OfThread = None
    max_tokens: int = bounded_by(FEW)
    cursor: Cursor = ""


class ReadSources(Arguments):
    """Read the messages from which a note was made, word for word, the oldest first."""

    resource_id: ResourceName
    observation_id: ObservationName
    max_tokens: int = bounded_by(FEW)
    cursor: Cursor = ""


class ShareNote(Arguments):
    """Tell another agent's or team's memory what its readers should know."""

    resource_id: ResourceName
    share_with: Annotated[str, an_id("whose memory it goes to"), ANY_NAME]
    text: str = Field(min_length=1, max_length=LONGEST, description="one sentence")


class ForgetObservation(Arguments):
    """Remove a note and the messages behind it for good, because the user wants that forgotten.

    It cannot be undone: read the note first, and be sure that it is the one.
    """

    resource_id: ResourceName
    observation_id: ObservationName


async def observations(services: ToolServices, asked: ListObservations) -> str:
    """A page of notes."""
    resource, zone = asked.resource_id, services.zone(asked.resource_id)
    found = await services.memory.observations(resource, asked.thread_id or None)
    rest = [each for each in reversed(found) if not asked.cursor or each.id < asked.cursor]
    if not rest:
        return f"There is no observation of {resource}{' behind this cursor' if asked.cursor else ' in force yet'}."

    def told(each: Observation) -> str:
        span = f"{when(each.from_, zone)} to {when(each.to, zone)}"
        return escape(f"Observation {each.id}, thread {each.thread_id}, {span}:\n{each.text}\n")

    return list_of(((each.id, told(each)) for each in rest), asked.max_tokens, services.count)


async def sources(services: ToolServices, asked: ReadSources) -> str:
    """A page of the messages behind a note."""
    resource, own = asked.resource_id, asked.observation_id
    found = await services.memory.sources(own, resource)
    if not found:
        await _check_kept(services, resource, own)
        if found.partial:
            return PARTIAL
        return f"The messages behind {own} have expired: the observation is all that is left of them."
    names = ["", *(each.id for each in found)]
    if asked.cursor not in names:
        raise InvalidInputError(
            f"cursor {asked.cursor[:40]!r} is none of {own}: leave it out to begin at the first page"
        )
    rest = found[names.index(asked.cursor) :]
    turns = list_of(turns_of(rest, services.zone(resource)), asked.max_tokens, services.count)
    return f"{turns}\n{PARTIAL}" if found.partial else turns


async def _check_kept(services: ToolServices, resource: str, observation: str) -> None:
    """Return for an observation that is in force, or that a generation replaced; raises NotFoundError for another."""
    replaced = [each.observation_ids for each in await services.memory.generations(resource)]
    now = [each.id for each in await services.memory.observations(resource)]
    if not any(observation in names for names in (now, *replaced)):
        raise _unknown(resource, observation)


def _unknown(resource: str, observation: str) -> NotFoundError:
    return NotFoundError(
        f"{resource} has no observation {observation}, or has no more: observations lists those in force"
    )


async def share_note(services: ToolServices, asked: ShareNote) -> str:
    """What became of a note that was to be shared."""
    services.caller.check(asked.share_with, "share_with")
    done = await services.memory.share_note(asked.text, asked.resource_id, asked.share_with)
    return f"It stands in the memory of {asked.share_with}{' already' if done is Outcome.REST else ' now'}."


async def forget(services: ToolServices, asked: ForgetObservation) -> str:
    """What became of a note that was to be removed."""
    try:
        done = await services.memory.forget(asked.observation_id, asked.resource_id)
    except InvalidInputError:
        raise _unknown(asked.resource_id, asked.observation_id) from None
    if done is Outcome.CLEARED:
        return f"Observation {asked.observation_id} and the messages behind it are removed for good."
    return f"Nothing was removed, the memory changed meanwhile ({done}): call this again."


TOOLS = (
    MemoryTool("observations", "List notes", Role.READER, ListObservations, observations),
    MemoryTool("sources", "Read what a note was made of", Role.READER, ReadSources, sources),
    MemoryTool("share_note", "Share a note", Role.WRITER, ShareNote, share_note, ADDS),
    MemoryTool("forget", "Forget a note for good", Role.OPERATOR, ForgetObservation, forget, REMOVES, audited="forgot"),
)
