"""What a memory is, where it lives, and how to ask for it: the names an agent needs, and nothing else.

The clients and the settings are loaded when they are first asked for: redis and pydantic take a third of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from om_api.context import Context
from om_api.domain.errors import (
    HookError,
    InvalidInputError,
    NotPermittedError,
    NotReplicatedError,
    OMError,
    RateLimitedError,
    SettingsError,
    StoreError,
)
from om_api.domain.messages import Message
from om_api.domain.naming.ids import escape_id, unescape_id
from om_api.domain.values import Outcome

if TYPE_CHECKING:
    from om_api.client.async_memory import AsyncObservationalMemory
    from om_api.client.memory import ObservationalMemory
    from om_api.settings import Settings, load_settings

__all__ = [
    "AsyncObservationalMemory",
    "Context",
    "HookError",
    "InvalidInputError",
    "Message",
    "NotPermittedError",
    "NotReplicatedError",
    "OMError",
    "ObservationalMemory",
    "Outcome",
    "RateLimitedError",
    "Settings",
    "SettingsError",
    "StoreError",
    "escape_id",
    "load_settings",
    "unescape_id",
]

_LOADED_LATER = {
    "AsyncObservationalMemory": "om_api.client.async_memory",
    "ObservationalMemory": "om_api.client.memory",
    "Settings": "om_api.settings",
    "load_settings": "om_api.settings",
}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # else every misspelt name would be one, of type Any

    def __getattr__(name: str) -> Any:
        if name not in _LOADED_LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_LOADED_LATER[name]), name)
