"""Sharing as a tool of the Actor, for agents in any language: its schema, and the answer to a call."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response

from om_api.context.share_tool import share_tool as tool_for
from om_api.context.tool_formats import ToolFormat
from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, rendered, reply
from om_api.http.routes.recall_tool import RecallText

router = APIRouter(prefix="/v1/resources/{resource}/share-tool", tags=["composed memories"], route_class=Guarded)
_ASKED = {"text": "We ship in May.", "with": "org"}
_CALLS: dict[str, Any] = {
    "anthropic": {"value": {"type": "tool_use", "id": "c-1", "name": "share_note", "input": _ASKED}},
    "arguments": {"value": _ASKED},
}


@router.get("", **needs(Role.READER), **answers(dict[str, Any], tool_for(["org"], "anthropic")))
async def share_tool(
    request: Request,
    resource: ResourceId,
    form: Annotated[ToolFormat, Query(alias="format", description="whose list of tools it is for")] = "openai",
) -> Response:
    """The tool by which an Actor tells a shared memory something: of those with a `share`, one that the key is bound to."""
    return reply(memory(request).share_tool(resource, form, key_of(request).covers))


@router.post(
    "",
    **needs(Role.WRITER, audited="line_added"),
    **answers(RecallText, RecallText("It stands in the memory of org now.")),
)
async def answer_share(
    request: Request, resource: ResourceId, call: Annotated[dict[str, Any], Body(openapi_examples=_CALLS)]
) -> Response:
    """Do what a model's call of the tool asks: the call as OpenAI, Anthropic or Gemini gave it, or its arguments alone.

    The same text told again stands there once. A call that cannot be carried out is answered with what is permitted.
    """
    text = await memory(request).answer_share(call, resource, key_of(request).covers)
    return await rendered(lambda: RecallText(text))
