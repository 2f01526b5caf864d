"""Recall as a tool of the Actor, for agents in any language: its schema, and the answer to a call."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Body, Query, Request, Response

from om_api.client.recall.recall_query import MOST_TOKENS
from om_api.context.recall_tool import recall_tool as tool_of
from om_api.context.tool_formats import ToolFormat
from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, composing, needs
from om_api.http.requests.parameters import Also, AskingThread, ResourceId
from om_api.http.requests.replies import answers, rendered, reply

router = APIRouter(prefix="/v1", tags=["recall"], route_class=Guarded)
_ASKED = {"query": "flight"}
_CALLS: dict[str, Any] = {
    "openai": {
        "value": {"id": "c-1", "type": "function", "function": {"name": "recall", "arguments": '{"query": "flight"}'}}
    },
    "anthropic": {"value": {"type": "tool_use", "id": "c-1", "name": "recall", "input": _ASKED}},
    "gemini": {"value": {"name": "recall", "args": _ASKED}},
    "arguments": {"value": _ASKED},
}
_TEXT = """\
Thread thread-1, message m-1, in your notes as observation 0196f1c2a4b800000001a1b2c3d4e5f6:
> [Thu 2025-11-20 09:20] user: My flight is on Friday.
  [Thu 2025-11-20 09:20] assistant: Noted: Friday."""


class RecallText(msgspec.Struct, frozen=True):
    """What a call found, or why nothing was looked up: the text of the tool's result, to be handed to the model as it is."""

    text: str


@router.get("/recall-tool", **needs(Role.READER), **answers(dict[str, Any], tool_of("anthropic")))
async def recall_tool(
    request: Request,
    form: Annotated[ToolFormat, Query(alias="format", description="whose list of tools it is for")] = "openai",
) -> Response:
    """The tool by which an Actor looks up the past, as a provider's request takes it in its list of tools."""
    return reply(memory(request).recall_tool(form))


@router.post("/resources/{resource}/recall-tool", **needs(Role.READER), **answers(RecallText, RecallText(_TEXT)))
async def answer_recall(
    request: Request,
    resource: ResourceId,
    call: Annotated[dict[str, Any], Body(openapi_examples=_CALLS)],
    max_tokens: Annotated[int, Query(ge=1, le=MOST_TOKENS, description="leave further hits out above this")] = 1_500,
    also: Also = (),
    thread_id: AskingThread = None,
) -> Response:
    """Answer a model's call of the tool: the call as OpenAI, Anthropic or Gemini gave it, or its arguments alone.

    The text says dates, threads and who spoke. A call that cannot be carried out is answered with what is permitted, for the
    model to read.
    """
    others = composing(request, also)
    text = await memory(request).answer_recall(call, resource, thread_id=thread_id, max_tokens=max_tokens, **others)
    return await rendered(lambda: RecallText(text))
