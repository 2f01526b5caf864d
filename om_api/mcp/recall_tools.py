"""The tools that look up what was said: by its words, and around a message."""

from typing import Annotated, Any, Literal

from pydantic import Field

from om_api.context.recall_tool import ANSWER_TOKENS, PARTIAL, answer_of, recall_tool
from om_api.domain.api_keys import Role
from om_api.domain.errors import NotFoundError
from om_api.mcp.arguments import (
    FEW,
    LEAST_TOKENS,
    Also,
    Arguments,
    Cursor,
    OfThread,
    ResourceName,
    an_id,
    bounded_by,
)
from om_api.mcp.pages import page_of
from om_api.mcp.tool import MemoryTool, ToolServices
from om_api.mcp.turns import turn_of
from om_api.recall.recalled import HITS, Browsed

_TOOL = recall_tool("anthropic")
MOST_OFFSET, MOST_BESIDE, LONGEST_QUERY = 1_000, 50, 2_000
_MOST = 20_000  # tokens of what is recalled


def _as_the_tool(name: str, **more: Any) -> Any:
    """A field that says what our own tool says of it."""
    return Field(description=_TOOL["input_schema"]["properties"][name]["description"], **more)


class RecallWords(Arguments):
    """What is looked up; a model is told what our own tool tells one."""

    resource_id: ResourceName
    query: str = _as_the_tool("query", min_length=1, max_length=LONGEST_QUERY)
    thread_id: OfThread = None
    role: Literal["user", "assistant", "tool"] | None = _as_the_tool("role", default=None)
    after: str | None = _as_the_tool("after", default=None, max_length=40)
    before: str | None = _as_the_tool("before", default=None, max_length=40)
    max_tokens: int = Field(ANSWER_TOKENS, ge=LEAST_TOKENS, le=_MOST, description="the most tokens of the answer")
    group: str | None = _as_the_tool("group", default=None, max_length=40)
    offset: int = _as_the_tool("offset", default=0, ge=0, le=MOST_OFFSET)
    also: Also = ()


class BrowseTurns(Arguments):
    """Read a message of the past as it was said, whole, with the turns before and after it.

    Ids of messages are in what recall and sources answer.
    """

    resource_id: ResourceName
    message_id: Annotated[str, an_id("the id of the message")]
    before: int = Field(5, ge=0, le=MOST_BESIDE, description="how many turns before it")
    after: int = Field(5, ge=0, le=MOST_BESIDE, description="how many turns after it")
    thread_id: OfThread = None
    max_tokens: int = bounded_by(FEW)
    cursor: Cursor = ""


async def recall(services: ToolServices, asked: RecallWords) -> str:
    """What was found, the best first."""
    most, roles = asked.max_tokens, (asked.role,) if asked.role else ()
    if asked.group:
        call = {"group": asked.group, "offset": asked.offset}
        return await services.memory.answer_recall(call, asked.resource_id, max_tokens=most)
    found = await services.memory.recall(
        asked.query,
        asked.resource_id,
        thread_id=asked.thread_id or None,
        roles=roles,
        after=asked.after or None,
        before=asked.before or None,
        limit=HITS,
        max_tokens=most,
        offset=asked.offset,
        **services.caller.composing(asked.also),
    )
    notes = [f"({note})" for note in found.notes]
    notes += [f"({name} was not looked through: {why})" for name, why in found.left_out.items()]
    room = max(most - services.count("\n".join(notes)), LEAST_TOKENS // 2)
    return "\n".join(
        [
            *notes,
            answer_of(
                found, services.zone(asked.resource_id).key, room, services.count, asked.offset, asked.resource_id
            ),
        ]
    )


async def browse(services: ToolServices, asked: BrowseTurns) -> str:
    """A page of what stands around a message."""
    resource, own, thread = asked.resource_id, asked.message_id, asked.thread_id or None
    found = await services.memory.browse(own, resource, before=asked.before, after=asked.after, thread_id=thread)
    missing = [PARTIAL] if found.partial else []
    if found.message is None:
        where = f"{resource}'s thread {thread}" if thread else resource
        says = f"{where} keeps no message {own}: check the id, or find it by its words with recall"
        raise NotFoundError(". ".join([says, *missing]))
    zone = services.zone(resource)
    turns = (*found.before, found.message, *found.after)
    told = [
        turn_of(
            turn,
            zone,
            ("> " if turn is found.message else "  ") + ("(retracted) " if turn.id in found.retracted else ""),
        )
        for turn in turns
    ]
    text = "\n".join([f"Thread {found.message.thread_id}:", *told, *_beyond(found), *missing])
    return page_of(text, asked.cursor, asked.max_tokens, services.count)


def _beyond(found: Browsed) -> list[str]:
    """How to read on in either direction."""
    turns = (*found.before, *filter(None, [found.message]), *found.after)
    earlier = f"Earlier turns: browse {turns[0].id} with after 0."
    later = f"Later turns: browse {turns[-1].id} with before 0."
    return [*([earlier] if found.earlier else ()), *([later] if found.later else ())]


TOOLS = (
    MemoryTool("recall", "Look up what was said", Role.READER, RecallWords, recall, says=_TOOL["description"]),
    MemoryTool("browse", "Read around a message", Role.READER, BrowseTurns, browse),
)
