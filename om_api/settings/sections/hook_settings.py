"""Hooks of an agent as YAML names them: up to ten at each point, each an entry point or a URL."""

import re
from typing import Annotated, Any, get_args

from pydantic import PlainValidator

from om_api.domain.errors import InvalidInputError
from om_api.domain.webhooks.hook import Hook, Point, Policy
from om_api.domain.webhooks.webhook import check_url
from om_api.settings.sections.fields import (
    SECRET_NAME,
    SECRET_PREFIX,
    Group,
    Mapped,
    contradiction,
    parse_duration,
    setting,
)

MOST = 10
LEAST_S, LONGEST_S = 0.01, 60.0
POINTS: tuple[Point, ...] = get_args(Point)
PERMITTED = (
    f"up to {MOST}, each with entry_point (a name of the group cortex_om.hooks) or url and secret_env ({SECRET_PREFIX}…), and "
    f"with timeout (0.01s to 1m, such as 2s) and on_failure (skip or stop)"
)
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


def _read(value: object) -> tuple[Mapped, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST:
        raise contradiction(f"it is no list of at most {MOST}; permitted: {PERMITTED}", "hooks")
    try:
        return tuple(map(_one, value))
    except InvalidInputError as error:
        raise contradiction(str(error), "hooks") from None


def _one(value: object) -> Mapped:
    if not isinstance(value, dict) or (unknown := sorted(set(map(str, value)) - set(Hook._fields))):
        named = f"{unknown[0][:80]!r} is no key of it" if isinstance(value, dict) else "a hook is a mapping"
        raise InvalidInputError(f"{named}; permitted: {', '.join(Hook._fields)}")
    if bool(value.get("entry_point")) == bool(value.get("url")):
        raise InvalidInputError("a hook has both entry_point and url, or neither; permitted: exactly one of them")
    said = {**(_of_url(value) if value.get("url") else _of_entry_point(value)), "timeout": _timeout(value)}
    policy = value.get("on_failure", Hook().on_failure)
    if policy not in get_args(Policy):
        raise InvalidInputError("on_failure: permitted: skip or stop")
    return Mapped({**said, "on_failure": policy})


def _of_entry_point(value: dict[str, Any]) -> dict[str, Any]:
    name = value["entry_point"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidInputError(
            "entry_point: permitted: the name of an entry point of the group cortex_om.hooks (1 to 100 of A-Z a-z 0-9 _ . -), "
            "never module:function"
        )
    if value.get("secret_env"):
        raise InvalidInputError("secret_env stands beside an entry_point; permitted: beside a url")
    return {"entry_point": name}


def _of_url(value: dict[str, Any]) -> dict[str, Any]:
    url, variable = value["url"], value.get("secret_env")
    if not isinstance(url, str):
        raise InvalidInputError("url: permitted: text such as https://hooks.example.org/om")
    try:
        check_url(url, allow_private=True)  # whether it may be private is judged when it is asked
    except InvalidInputError as error:
        raise InvalidInputError(str(error).replace("a webhook's", "a hook's")) from None
    if not isinstance(variable, str) or not SECRET_NAME.fullmatch(variable):
        raise InvalidInputError(
            "secret_env: permitted beside a url: the name of the environment variable that holds its secret, which begins "
            f"with {SECRET_PREFIX}, such as {SECRET_PREFIX}HOOK"
        )
    return {"url": url, "secret_env": variable}


def _timeout(value: dict[str, Any]) -> float:
    try:
        seconds = parse_duration(value.get("timeout", Hook().timeout))
    except ValueError:
        seconds = 0.0
    if not LEAST_S <= seconds <= LONGEST_S:
        raise InvalidInputError(f"timeout: permitted: {LEAST_S:g} to {LONGEST_S:g} seconds, such as 2s")
    return seconds


HookList = Annotated[tuple[Mapped, ...], PlainValidator(_read)]


def _at(meaning: str) -> Any:
    return setting((), f"{meaning} (docs/hooks.md)", PERMITTED)


class HookSettings(Group):
    """Code of the operator's own, by the point at which it is asked."""

    before_observe: HookList = _at("hooks that see, and may change, what the Observer reads")
    after_observe: HookList = _at("hooks that see, and may change, what the Observer noted")
    before_reflect: HookList = _at("hooks that see, and may change, what the Reflector reads")
    after_reflect: HookList = _at("hooks that see, and may change, what the Reflector wrote")
    before_context: HookList = _at("hooks that may add a text to the end of each context")

    def at(self, point: Point) -> tuple[Hook, ...]:
        """The hooks of a point, in their order."""
        return tuple(Hook(**each) for each in getattr(self, point))
