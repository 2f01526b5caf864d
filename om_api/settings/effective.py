"""Settings as a reader sees them: key, value, and where it comes from; no password."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from typing import Any

import msgspec

from om_api.settings import Settings
from om_api.settings.catalogue import SETTINGS, Key, about, dotted

_HIDDEN = "***"


class Setting(msgspec.Struct, frozen=True):
    """One setting in force: durations in seconds, and where the value comes from."""

    key: str
    value: Any
    origin: str
    unit: str

    def shown(self) -> str:
        """The value in the words of YAML."""
        if self.unit == "duration":
            return f"{self.value:g}s"
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


def rows(settings: Settings, agent: str | None = None) -> list[Setting]:
    """What is in force for an agent; without one for every agent that has no override, models included."""
    memory = settings.memory if agent is None else settings.for_agent(agent)
    dumped, origin = memory.model_dump(), settings.origin(agent)
    values = {path: reduce(getitem, path, dumped) for path in SETTINGS}
    if agent is None:
        values |= {
            ("models", name, field): value
            for name, model in settings.models.items()
            for field, value in model.model_dump().items()
        }
    return [_row(settings, path, value, origin) for path, value in values.items()]


def _row(settings: Settings, path: Key, value: Any, origin: dict[str, str]) -> Setting:
    key, unit = dotted(path), about(path).get("unit", "")
    return Setting(key, _without_secrets(settings, path, value), origin.get(key, "default"), unit)


def _without_secrets(settings: Settings, path: Key, value: Any) -> Any:
    """Hide passwords in addresses, and a key that stands where the name of its variable should."""
    if not isinstance(value, str):
        return value
    if path[-1].endswith("_env"):
        return value if value.isupper() or settings.variable(value) else _HIDDEN
    address, asked, _ = settings.safe_url(value).partition("?")
    return f"{address}?{_HIDDEN}" if asked and path[-1].endswith("url") else settings.safe_url(value)
