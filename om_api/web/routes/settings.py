"""Settings: what is in force for an agent and why, changed after a look at what would be."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError, SettingsError
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import key_of, owner
from om_api.http.requests.parameters import ResourceId
from om_api.settings.change import NotOwnerError, PlannedChange, WantedChange, plan
from om_api.settings.environment import value_of
from om_api.settings.live import Setting, rows
from om_api.settings.sections.fields import SettingOwner
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader
from om_api.web.pages.rendering import address, back_to, page

router = APIRouter(route_class=PageRoute)
_SET, _WAS, _UNSET = "set.", "was.", "unset."
_ABOUT = re.compile(r"(?<!\S)(?P<key>[a-z_.]+) is .*; permitted: .*")


class SettingsGroup(NamedTuple):
    """Settings that begin alike; those of the first one have no group."""

    name: str
    settings: list[Setting]


@router.get("/agents/{resource}/settings", **shows(Role.OPERATOR))
async def show_settings(request: Request, resource: ResourceId) -> Response:
    """Every setting of an agent, where its value comes from, and what it may be."""
    return await _shown(request, resource)


@router.post("/agents/{resource}/settings", **shows(Role.OPERATOR, did="settings_changed"))
async def change_settings(request: Request, resource: ResourceId) -> Response:
    """Show what would change; once that was seen, and confirmed, save it."""
    form, state = request.state.form, app_state(request)
    await state.refresh()
    try:
        wanted = _wanted(form)
        planned = await asyncio.to_thread(plan, state.settings, resource, wanted, by=owner(request))
    except SettingsError as error:
        audit_as(request, did="")
        status = 403 if isinstance(error, NotOwnerError) else 422
        return await _shown(request, resource, form=form, problem=str(error), status=status)
    if form.get("version") != planned.version:  # not seen yet, or not as it is now
        audit_as(request, did="")
        return await _shown(request, resource, form=form, planned=planned)
    if not await state.save_settings(planned, key_of(request).id):
        raise InvalidInputError("these settings were changed by somebody else just now: look again, and repeat")
    audit_as(request, of=", ".join(each.key for each in planned.changed))
    told = f"Saved in {planned.place}: workers take it up within seconds."
    return back_to(request, f"{address(resource)}/settings", told)


async def _shown(
    request: Request,
    resource: str,
    *,
    form: Mapping[str, str] | None = None,
    planned: PlannedChange | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    settings = app_state(request).settings
    found = [each for each in rows(settings, resource) if not each.system_wide]
    problem = problem or (str(trouble) if (trouble := settings.problem(resource)) else "")
    return page(
        request,
        "settings.html",
        status=status,
        resource=resource,
        groups=list(_groups(found)),
        form=form or {},
        known=await reader(request).is_known(resource),
        hooks=await reader(request).hooks(resource),
        would=planned.told("dry_run") if planned else None,
        problem=problem,
        wrong=_by_setting(problem),
        not_own={each.key for each in found if not owner(request).includes(SettingOwner(each.owner))},
    )


def _by_setting(problem: str) -> dict[str, str]:
    """What is wrong, by the setting that a line of it is about."""
    found = filter(None, map(_ABOUT.search, problem.splitlines()))
    return {each["key"]: each[0] for each in found}


def _groups(found: list[Setting]) -> Iterator[SettingsGroup]:
    own = [each for each in found if "." not in each.key]
    yield SettingsGroup("", own)
    for name, some in groupby((each for each in found if "." in each.key), lambda each: each.key.partition(".")[0]):
        yield SettingsGroup(name, list(some))


def _wanted(form: Mapping[str, str]) -> WantedChange:
    """What differs from what the page showed, which must be something; a value is written as in YAML."""
    unset = [name.removeprefix(_UNSET) for name in form if name.startswith(_UNSET)]
    stated: dict[str, Any] = {}
    for name, text in form.items():
        key = name.removeprefix(_SET)
        if name != key and key not in unset and _plain(text) != _plain(form.get(_WAS + key, "")):
            stated[key] = value_of(key, _plain(text), tuple(key.split(".")))
    if not stated and not unset:
        raise SettingsError("nothing is changed yet: write another value into a field, or tick one to unset it")
    return WantedChange(stated, unset)


def _plain(text: str) -> str:
    """What a browser sent of a field, with the ends of lines as they are kept."""
    return text.replace("\r\n", "\n").strip()
