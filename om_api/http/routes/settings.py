"""The settings of an agent: each with where it comes from and what it may be, and changing them."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, HTTPException, Request, Response
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticKnownError

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError, SettingsError
from om_api.domain.requests.request_model import FirstFault, RequestModel
from om_api.http.requests.app_state import AppState, app_state
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, key_of, needs, owner
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, reply
from om_api.settings.change import ChangedSettings, Effect, NotOwnerError, PlannedChange, WantedChange, plan
from om_api.settings.live import Setting, rows

router = APIRouter(prefix="/v1/resources/{resource}/settings", tags=["settings"], route_class=Guarded)
_MOST_KEYS = 200
_LONGEST_KEY = 200
_LONGEST_TEXT = 60_000
_MOST_NAMES = 100
_THRESHOLD = "message_threshold"
_SETTINGS = [
    Setting(
        _THRESHOLD,
        30_000,
        "default",
        "tokens",
        "100 to 10,000,000",
        30_000,
        "raw messages above this are replaced by their observations",
        owner="operator",
    )
]
_CHANGED = ChangedSettings(
    "saved",
    "harold",
    "store",
    "store harold",
    "",
    "8f3c9d1e0b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d",
    "--- store harold\n+++ store harold\n@@ -0,0 +1,2 @@\n+observational_memory:\n+  message_threshold: 20000\n",
    (Effect(_THRESHOLD, 30_000, 20_000, "store harold"),),
    (),
)
Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
Key = Annotated[str, Field(max_length=_LONGEST_KEY)]
Value = bool | int | float | Text | Annotated[list[Text], FirstFault(), Field(max_length=_MOST_NAMES)] | None


def _check_length(given: Any) -> Any:
    """Refuse too many keys before each of their values is checked."""
    if isinstance(given, dict) and len(given) > _MOST_KEYS:
        details = {"field_type": "Dictionary", "max_length": _MOST_KEYS, "actual_length": len(given)}
        raise PydanticKnownError("too_long", details)
    return given


class SettingsChange(RequestModel):
    """What is to be different in the settings of an agent."""

    set: Annotated[dict[Key, Value], Field(max_length=_MOST_KEYS), BeforeValidator(_check_length)] = Field(
        {}, description="dotted keys, each with its new value"
    )
    unset: Annotated[list[Key], FirstFault()] = Field(
        [], max_length=_MOST_KEYS, description="dotted keys that are to be stated no more"
    )
    dry_run: bool = Field(default=False, description="tell what would be different, and save nothing")
    version: str | None = Field(
        None, pattern="^([0-9a-f]{40})?$", description="the `version` of what you changed; another one by now is kept"
    )
    where: Literal["file", "store"] | None = Field(
        None,
        description="null: in the store where the agent has an entry already or its file cannot be written, else in the file",
    )


_ASKED = {"set": {_THRESHOLD: 20_000}, "unset": ["observer.instruction"], "dry_run": True}
Asked = Annotated[SettingsChange, Body(openapi_examples={"try": {"value": _ASKED}})]


@router.get("", **needs(Role.OPERATOR), **answers(list[Setting], _SETTINGS))
async def get_settings(request: Request, resource: ResourceId) -> Response:
    """The settings of this server for an agent, and where each value comes from; no password is among them."""
    return reply(rows(app_state(request).settings, resource))


@router.patch("", **needs(Role.WRITER, audited="settings_changed"), **answers(ChangedSettings, _CHANGED))
async def change_settings(request: Request, resource: ResourceId, asked: Asked) -> Response:
    """Change settings of an agent, in its file or in the store; nothing is saved that could not be in force.

    The answer says what is different, and what a layer above overrules. Where another one was first, it is `superseded` and
    nothing was changed: look at `diff`, and repeat with the new `version`. A file of this server is read by workers that share
    its folder; what is saved in the store, by all.

    A writer's key changes settings with the `owner` `agent`, an operator's key those of `agent` and `operator`. Others are
    refused with 403: administrators change them in files, or with `om config set`. `diff` contains only settings that the key
    may change, and no comments; `version` is derived from these settings only.
    """
    state, wanted = app_state(request), WantedChange(asked.set, asked.unset)
    await state.refresh()
    try:
        planned = await asyncio.to_thread(plan, state.settings, resource, wanted, asked.where, by=owner(request))
        outcome = await _done(state, planned, asked, key_of(request).id)
        if outcome in {"dry_run", "unchanged"}:
            audit_as(request, did="")
        return reply(planned.told(outcome))
    except NotOwnerError as error:
        raise HTTPException(403, str(error)) from None
    except SettingsError as error:
        raise InvalidInputError(str(error)) from None


async def _done(
    state: AppState, planned: PlannedChange, asked: SettingsChange, by: str
) -> Literal["saved", "unchanged", "dry_run", "superseded"]:
    if asked.version not in {None, planned.version}:
        return "superseded"
    if asked.dry_run or planned.changes_nothing:
        return "dry_run" if asked.dry_run else "unchanged"
    return "saved" if await state.save_settings(planned, by) else "superseded"
