"""What a memory is, where it lives, and how to ask for it: the names an agent needs, and nothing else."""

from om_api.async_memory import AsyncObservationalMemory
from om_api.context import Context
from om_api.errors import InvalidInputError, NotPermittedError, OMError, SettingsError, StoreError
from om_api.memory import ObservationalMemory
from om_api.settings import Settings, load_settings
from om_api.values import Message, Outcome

__all__ = [
    "AsyncObservationalMemory",
    "Context",
    "InvalidInputError",
    "Message",
    "NotPermittedError",
    "OMError",
    "ObservationalMemory",
    "Outcome",
    "Settings",
    "SettingsError",
    "StoreError",
    "load_settings",
]
