"""Settings as a reader sees them: key, value, and where it comes from; no password."""

from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.settings.catalogue import SETTINGS, about, dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from om_api.settings import Settings
    from om_api.settings.catalogue import Key

_DEFAULT = "default"
_HIDDEN = "***"


class Row(NamedTuple):
    """One setting in force; `value` as YAML would have it, durations in seconds."""

    key: str
    value: Any
    origin: str
    unit: str = ""

    def shown(self) -> str:
        """The value in the words of YAML."""
        if self.unit == "duration":
            return f"{self.value:g}s"
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


def rows(settings: Settings, agent: str | None = None) -> list[Row]:
    """What is in force for an agent; without one for every agent that has no override, models included."""
    memory = settings.memory if agent is None else settings.for_agent(agent)
    origin, values = settings.origin(agent), memory.model_dump()
    own = [_row(settings, path, reduce(getitem, path, values), origin) for path in SETTINGS]
    return own if agent is not None else own + list(_models(settings, origin))


def _models(settings: Settings, origin: dict[str, str]) -> Iterator[Row]:
    for name, model in settings.models.items():
        for field, value in model.model_dump().items():
            yield _row(settings, ("models", name, field), value, origin)


def _row(settings: Settings, path: Key, value: Any, origin: dict[str, str]) -> Row:
    key = dotted(path)
    return Row(key, _without_secrets(settings, path, value), origin.get(key, _DEFAULT), about(path).get("unit", ""))


def _without_secrets(settings: Settings, path: Key, value: Any) -> Any:
    """Hide passwords in addresses, and a key that stands where the name of its variable should."""
    if not isinstance(value, str):
        return value
    if path[-1].endswith("_env"):
        return value if value.isupper() or settings.variable(value) else _HIDDEN
    address, asked, _ = settings.safe_url(value).partition("?")
    return f"{address}?{_HIDDEN}" if asked and path[-1].endswith("url") else settings.safe_url(value)
