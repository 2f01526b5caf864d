"""What an agent's model reads."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import memory
from om_api.http.requests.context_forms import OpenAIContext, RenderedContext, rendered_context
from om_api.http.requests.guard import Guarded, composing, needs
from om_api.http.requests.openai_forms import OpenAIMessage
from om_api.http.requests.parameters import Also, ResourceId, ThreadId
from om_api.http.requests.replies import answers, rendered
from om_api.settings.model_settings import MODEL_NAME

router = APIRouter(prefix="/v1/resources/{resource}/threads/{thread}", tags=["context"], route_class=Guarded)
Format = Literal["text", "openai", "openai_responses", "anthropic", "gemini", "blocks"]


_EXAMPLE = OpenAIContext(
    context=[OpenAIMessage("user", "Hello")],
    tokens=5,
    omitted=0,
    omitted_tokens={},
    recalled=[],
    composed={},
    left_out={},
)


ActorModel = Annotated[
    str | None,
    Query(
        pattern=rf"^{MODEL_NAME.pattern}$", description="the agent's own model that it is for; without it `actor_model`"
    ),
]


@router.get("/context", **needs(Role.READER), **answers(RenderedContext, _EXAMPLE))
async def get_context(
    request: Request,
    resource: ResourceId,
    thread: ThreadId,
    form: Annotated[
        Format, Query(alias="format", description="plain text, a provider's request, or our blocks")
    ] = "text",
    max_tokens: Annotated[
        int | None, Query(ge=1, le=100_000_000, description="leave older messages out above this")
    ] = None,
    also: Also = (),
    model: ActorModel = None,
) -> Response:
    """The agent's whole memory for a thread: reflection, observations, raw messages, in the order prompt caches like.

    `openai` gives the `messages` of a request, `openai_responses` the `input` of one to the Responses API, `anthropic`
    `system` and `messages`, `gemini` `system_instruction` and `contents`. `recalled` names what of the past was looked up for the
    newest message. No model is waited for.

    Notes of other resources stand in it: of those that the setting `compose` names, and of those in `also`: the key must be
    bound to each of them, and 403 names the one it is not bound to. `composed` names their observations, `left_out` says why one
    is not there.
    """
    found = await memory(request).get_context(thread, resource, max_tokens, model=model, **composing(request, also))
    return await rendered(lambda: rendered_context(found, form))
