"""The tools of a conversation: reading what its model should have in mind, adding what was said, and which there are."""

from typing import Annotated, Literal

from msgspec import structs
from pydantic import ConfigDict, Field

from om_api.client.receipts import Receipt
from om_api.context import Context
from om_api.domain.api_keys import Role
from om_api.domain.messages import Message
from om_api.domain.requests.request_model import FirstFault, RequestModel
from om_api.domain.tags import escape
from om_api.domain.values import ThreadState
from om_api.language.words import amount
from om_api.mcp.arguments import (
    FEW,
    MANY,
    Also,
    Arguments,
    Cursor,
    FromJson,
    ResourceName,
    ThreadName,
    an_id,
    bounded_by,
)
from om_api.mcp.message_ids import names_of
from om_api.mcp.pages import list_of, page_of
from om_api.mcp.tool import ADDS, MemoryTool, ToolServices
from om_api.mcp.turns import when

MOST_MESSAGES, LONGEST = 100, 1_000_000  # messages of a call, characters of one
THREADS = 50  # of a page


class GetContext(Arguments):
    """Read the whole memory for a conversation. Do this first, before you answer.

    It holds an account of the past, dated notes, and the newest messages as they were said.
    """

    resource_id: ResourceName
    thread_id: ThreadName
    also: Also = ()
    model: str = Field("", max_length=200, description="your model's name")  # the memory refuses what is none
    max_tokens: int = bounded_by(MANY)
    cursor: Cursor = ""


class GivenTurn(RequestModel):
    """One message of a conversation."""

    model_config = ConfigDict(strict=False)

    role: Literal["user", "assistant"]
    content: str = Field(min_length=1, max_length=LONGEST, description="what was said, word for word")
    id: str | None = an_id(
        "an id of its own, if it has one: then it is kept once, however often it is sent", default=None
    )


class AddMessages(Arguments):
    """Keep what was said, to be remembered in every later conversation.

    Send the user's message and your answer, once each, oldest first; notes are made of them in the background. If the answer to
    a call was lost, repeat it at once: nothing is kept twice.
    """

    resource_id: ResourceName
    thread_id: ThreadName
    messages: Annotated[list[GivenTurn], FirstFault(), Field(min_length=1, max_length=MOST_MESSAGES), FromJson]


class ListThreads(Arguments):
    """List the conversations that are remembered, by name: when each last went on, and what its task was."""

    resource_id: ResourceName
    max_tokens: int = bounded_by(FEW)
    cursor: Cursor = ""


async def get_context(services: ToolServices, asked: GetContext) -> str:
    """A page of a context."""
    others = services.caller.composing(asked.also)
    found = await services.memory.get_context(asked.thread_id, asked.resource_id, model=asked.model or None, **others)
    left_out = [f"(The notes of {name} are left out: {why}.)" for name, why in found.left_out.items()]
    return page_of("\n\n".join([text_of(found), *left_out]), asked.cursor, asked.max_tokens, services.count)


def text_of(found: Context) -> str:
    """A context as one text; of an empty one, that it is empty."""
    if found.text:
        return found.text
    return f"Nothing is remembered of {found.resource_id} yet, nor was anything said in thread {found.thread_id}."


async def add_messages(services: ToolServices, asked: AddMessages) -> str:
    """Messages are kept, those without an id under one that tells a repeated call."""
    resource, thread = asked.resource_id, asked.thread_id
    given = [
        Message(role=each.role, content=each.content, id=each.id or "", resource_id=resource, thread_id=thread)
        for each in asked.messages
    ]
    if not all(each.id for each in given):
        there = await services.memory.messages(resource, thread)
        names = names_of(given, there, "" if there else await _noted_last(services, resource, thread))
        given = [structs.replace(each, id=name) for each, name in zip(given, names, strict=True)]
    receipt = await services.memory.add_messages(given, pusher=services.caller.key.pusher)
    return "\n".join(_told(receipt, thread))


async def _noted_last(services: ToolServices, resource: str, thread: str) -> str:
    """What tells a thread of which nothing is raw from what it was, and from others: its newest note, its account, its name."""
    notes = await services.memory.observations(resource, thread)
    accounts = await services.memory.generations(resource, thread)
    return notes[-1].id if notes else f"g-{accounts[-1].n}" if accounts else thread


def _told(receipt: Receipt, thread: str) -> list[str]:
    """What became of messages; their ids are named where something is to be done about them."""
    kept = f"Kept in thread {thread}: {receipt.added} of {len(receipt.ids)} messages."
    again = ", ".join(receipt.duplicates)
    repeated = f"Kept before, so not added again: {again}. If it was said once more, give it another id."
    grown = f"Kept longer than before: {', '.join(receipt.grown)}."
    changed = [
        f"Not kept: {each.id} is the id of a message that says something else. Send it again under another id, or without."
        for each in receipt.changed
    ]
    return [kept, *([repeated] if receipt.duplicates else ()), *([grown] if receipt.grown else ()), *changed]


async def list_threads(services: ToolServices, asked: ListThreads) -> str:
    """A page of threads."""
    resource, zone = asked.resource_id, services.zone(asked.resource_id)
    found = await services.memory.threads(resource, after=asked.cursor, limit=THREADS + 1)
    if not found:
        return f"There is no thread of {resource}{' behind this cursor' if asked.cursor else ' yet'}."
    entries = [(each.id, _thread(each, when(each.at, zone) if each.at else "")) for each in found[:THREADS]]
    return list_of(entries, asked.max_tokens, services.count, goes_on=len(found) > THREADS)


def _thread(thread: ThreadState, at: str) -> str:
    raw = f"{amount(thread.messages, 'message')} ({thread.tokens} tokens)"
    said = f"{raw} not noted yet" if thread.messages else "all noted"
    if not thread.leaves_memory:
        said = f"{raw}, never noted"
    mode = f"memory: {thread.memory}" if thread.memory != "full" else ""
    parts = [
        f"{thread.id}: {said}",
        *([f"last message {at}"] if at else ()),
        *filter(None, [_one_line(thread.title), mode]),
    ]
    task = _one_line(thread.current_task)
    return escape("; ".join([*parts, *([f"task: {task}"] if task else ())]))


def _one_line(text: str) -> str:
    return " ".join(text.split())


TOOLS = (
    MemoryTool("get_context", "Read the memory", Role.READER, GetContext, get_context),
    MemoryTool("add_messages", "Remember what was said", Role.WRITER, AddMessages, add_messages, ADDS),
    MemoryTool("list_threads", "List conversations", Role.READER, ListThreads, list_threads),
)
