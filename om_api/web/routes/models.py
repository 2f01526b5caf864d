"""The models in use, what they cost, the texts that they are asked with; and a test call of one."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.billing.models import with_breaker
from om_api.domain.api_keys import EVERY, Role
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import key_of
from om_api.ops.model_list import model_list
from om_api.ops.prompt_texts import prompt_texts
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader
from om_api.web.pages.rendering import page

router = APIRouter(route_class=PageRoute)
Tried = Annotated[str, Query(max_length=200)]
AskedAt = Annotated[int, Query(ge=0, lt=2**53)]


@router.get("/models", **shows(Role.OPERATOR))
async def show_models(request: Request, tried: Tried = "", asked_at: AskedAt = 0) -> Response:
    """The models in use, what they cost, who uses them, what came of a test call; and the texts that they are asked with."""
    return await _models(request, tried, asked_at)


@router.post("/models", **shows(Role.OPERATOR, of_all=True, did="model_tried"))
async def try_model(request: Request) -> Response:
    """Have a worker make a test call of a model; the page looks what came of it."""
    name = request.state.form.get("model", "")
    audit_as(request, of=name)
    asked = await reader(request).try_model(name, 0)
    return await _models(request, name, asked.asked_at)


async def _models(request: Request, tried: str, asked_at: int) -> Response:
    settings, key = app_state(request).settings, key_of(request)
    may_try = with_breaker(settings) if key.covers(EVERY) else ()
    trial = await reader(request).model_trial(tried, asked_at) if tried in may_try else None
    found = model_list(settings, key.covers)
    prompts = () if "hx-request" in request.headers else prompt_texts()  # who looks again looks at a trial alone
    return page(request, "models.html", models=found, prompts=prompts, may_try=may_try, trial=trial)
