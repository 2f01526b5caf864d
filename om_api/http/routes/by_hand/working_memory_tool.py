"""The working memory as a tool of the Actor, for agents in any language: its schema, and the answer to a call."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response

from om_api.context.tool_formats import ToolFormat
from om_api.context.working_tool import working_tool
from om_api.domain.api_keys import Role
from om_api.domain.kept.working_memory import WorkingForm
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.http.requests.replies import answers, rendered, reply
from om_api.http.routes.recall_tool import RecallText

router = APIRouter(prefix="/v1/resources/{resource}/working-memory-tool", tags=["working memory"], route_class=Guarded)
_ASKED = {"fields": {"City": "Graz"}}
_CALLS: dict[str, Any] = {
    "anthropic": {"value": {"type": "tool_use", "id": "c-1", "name": "update_working_memory", "input": _ASKED}},
    "arguments": {"value": _ASKED},
}
_SHOWN = working_tool(WorkingForm(fields=("Name", "City")), "anthropic")
_TEXT = RecallText("Your working memory says now:\n# User\n- **Name**: Ada\n- **City**: Graz")


@router.get("", **needs(Role.READER), **answers(dict[str, Any], _SHOWN))
async def working_memory_tool(
    request: Request,
    resource: ResourceId,
    form: Annotated[ToolFormat, Query(alias="format", description="whose list of tools it is for")] = "openai",
) -> Response:
    """The tool by which an Actor changes its working memory, as a provider's request takes it in its list of tools."""
    return reply(memory(request).working_memory_tool(resource, form))


@router.post("", **needs(Role.WRITER, audited="working_memory_updated"), **answers(RecallText, _TEXT))
async def answer_working_memory(
    request: Request,
    resource: ResourceId,
    call: Annotated[dict[str, Any], Body(openapi_examples=_CALLS)],
    thread_id: OfThread = None,
) -> Response:
    """Do what a model's call of the tool asks: the call as OpenAI, Anthropic or Gemini gave it, or its arguments alone.

    A call that cannot be carried out is answered with what is permitted, for the model to read.
    """
    text = await memory(request).answer_working_memory(call, resource, thread_id, by=key_of(request).id)
    return await rendered(lambda: RecallText(text))
