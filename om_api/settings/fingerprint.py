"""A short digest of the settings in force, by which processes tell whether they go by the same."""

import hashlib
import json
from typing import Any

from om_api.settings.catalogue import dotted
from om_api.settings.loaded import Loaded
from om_api.settings.memory_settings import MemorySettings
from om_api.settings.model_settings import ModelSettings
from om_api.settings.sections.urls import safe_url

_DIGITS = 16
# store and archive may have another address for each process; what only the HTTP API goes by
_OWN: dict[str, Any] = {"storage": True, "api": True, "archive": {"url", "password_env"}}


def fingerprint_of(loaded: Loaded) -> str:
    """Digest what is in force, for all and for each agent; no secret is in it, and no value that is the default."""
    base = loaded.base.effective
    agents = {name: _memory(loaded.agents.get(name, base).memory) for name in loaded.names}
    said: list[Any] = [_memory(base.memory), {name: _model(each) for name, each in base.models.items()}, agents]
    if stored := loaded.stored.layers:
        said.append({name: {dotted(path): one.value for path, one in layer.items()} for name, layer in stored.items()})
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def _memory(memory: MemorySettings) -> dict[str, Any]:
    return memory.model_dump(mode="json", exclude=_OWN, exclude_defaults=True)


def _model(model: ModelSettings) -> dict[str, Any]:
    said = model.model_dump(mode="json", exclude={"api_key_env"}, exclude_defaults=True)
    return said | ({"base_url": safe_url(model.base_url).partition("?")[0]} if model.base_url else {})
