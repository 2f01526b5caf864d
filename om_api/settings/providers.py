"""Who serves a model, and which environment variable holds the key that is shown to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from om_api.settings.models import ModelSettings

# Each provider's variable at its own address; "" for those that need none. No other address is ever shown these keys unasked.
KEY_VARIABLES = {
    "extractive": "",
    "gemini": "GEMINI_API_KEY",
    "openai": "OPENAI_API_KEY",
    "scripted": "",
}


def provider_of(name: str, settings: ModelSettings) -> str:
    """The provider that serves a model: what its settings say, else guessed from its name."""
    if settings.provider:
        return settings.provider
    return name if name in KEY_VARIABLES else "gemini" if name.startswith("gemini") else "openai"


def who_answers(name: str, settings: ModelSettings) -> list[str]:
    """The models that may answer for a name: those of its tiers, and it itself unless it is made of nothing else."""
    alone = [name] if settings.provider or not settings.tiers else []
    return [*(tier.model for tier in settings.tiers), *alone]


def key_variable(name: str, settings: ModelSettings) -> str:
    """The environment variable that holds a model's key; "" if it is asked without one.

    It is the one that the model names, or the provider's usual one at the provider's own address.
    """
    usual = "" if settings.base_url else KEY_VARIABLES.get(provider_of(name, settings), "")
    return settings.api_key_env or usual
