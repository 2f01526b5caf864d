"""Which models are in use, whether one answers, and the prompts that they are asked with."""

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import app_state, memory
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import Page, WhichPage
from om_api.http.requests.replies import answers, reply
from om_api.http.serving.limits import MAX_WAIT_S
from om_api.ops.model_list import ModelInUse, ModelUse, model_list
from om_api.ops.prompt_texts import PromptText, prompt_texts
from om_api.store.fleet.model_trials import ModelTrial

router = APIRouter(prefix="/v1", tags=["models"], route_class=Guarded)
_MODEL = ModelInUse(
    name="gemini-2.5-flash",
    provider="gemini",
    model="gemini-2.5-flash",
    base_url="",
    key_variable="GEMINI_API_KEY",
    key_is_missing=True,
    prices={"input": 0.3, "cached": 0.03, "output": 2.5},
    context_window=1_048_576,
    tiers=(),
    used_by=(ModelUse(None, "observer"), ModelUse("harold", "reflector")),
    advice={},
)
_TRIAL = ModelTrial(
    model="gemini-2.5-flash",
    asked_at=1_763_630_460_000,
    outcome="answered",
    seconds=1.204,
    input=48,
    output=1,
    cost=0.0000169,
    text="ready",
)
ModelName = Annotated[
    str, Query(min_length=1, max_length=200, description="by its name here", examples=["gemini-2.5-flash"])
]
Wait = Annotated[float, Query(ge=0, le=MAX_WAIT_S, description="seconds")]
_PROMPT = PromptText("condensed", "level_1", inherited=True, text="Aim for a little less detail than before.")


@router.get("/models", **needs(Role.OPERATOR), **answers(Page[ModelInUse], Page([_MODEL])))
async def list_models(request: Request, page: WhichPage) -> Response:
    """The models in use or in the configuration, with their prices, and who uses them as far as the key is bound to them."""
    found = model_list(app_state(request).settings, key_of(request).covers)
    return reply(page.of(found, lambda each: each.name))


@router.post(
    "/models/try",
    **needs(Role.OPERATOR, of_all=True, waits=True, audited="model_tried"),
    **answers(ModelTrial, _TRIAL),
)
async def try_model(request: Request, model: ModelName, wait: Wait = 0) -> Response:
    """Have a worker ask a model for one word: whether it `answered` within `wait` seconds, in what time and for what.

    `failed` says why, `busy` that no worker has made the call yet: whoever asks again is told of that one, as long as it stands.
    """
    audit_as(request, of=model)
    om, state = memory(request), app_state(request)
    trial = await om.try_model(model, 0)
    with suppress(TimeoutError):  # this process stops: how it stands is told
        async with state.stopping.ends():
            trial = await om.model_trial(model, trial.asked_at, wait)
    return reply(trial)


@router.get("/prompts", **needs(Role.OPERATOR), **answers(Page[PromptText], Page([_PROMPT])))
async def list_prompts(page: WhichPage) -> Response:
    """The texts that models are asked with, of every variant that `observer.prompt` and `reflection.prompt` may name."""
    return reply(page.of(prompt_texts(), lambda each: f"{each.variant}/{each.name}"))
