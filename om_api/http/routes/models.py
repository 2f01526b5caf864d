"""Which models are in use, and the prompts that they are asked with."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import app_state
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import Page, WhichPage
from om_api.http.requests.replies import answers, reply
from om_api.ops.model_list import ModelInUse, ModelUse, model_list
from om_api.ops.prompt_texts import PromptText, prompt_texts

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
_PROMPT = PromptText("condensed", "level_1", inherited=True, text="Aim for a little less detail than before.")


@router.get("/models", **needs(Role.OPERATOR), **answers(Page[ModelInUse], Page([_MODEL])))
async def list_models(request: Request, page: WhichPage) -> Response:
    """The models in use or in the configuration, with their prices, and who uses them as far as the key is bound to them."""
    found = model_list(app_state(request).settings, key_of(request).covers)
    return reply(page.of(found, lambda each: each.name))


@router.get("/prompts", **needs(Role.OPERATOR), **answers(Page[PromptText], Page([_PROMPT])))
async def list_prompts(page: WhichPage) -> Response:
    """The texts that models are asked with, of every variant that `observer.prompt` and `reflection.prompt` may name."""
    return reply(page.of(prompt_texts(), lambda each: f"{each.variant}/{each.name}"))
