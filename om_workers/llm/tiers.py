"""Which model answers in place of another, by the size of what is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.errors import ModelError

if TYPE_CHECKING:
    from om_api.settings import ModelSettings


def answering(name: str, settings: ModelSettings, tokens: int) -> str:
    """The name of the model that answers a request of `tokens`: the smallest tier that holds it, else the model itself.

    Raises ModelError (not retryable) where there is no tier so large and the model has no provider of its own.
    """
    fitting = next((tier.model for tier in settings.tiers if tokens <= tier.up_to), name)
    if fitting == name and settings.tiers and not settings.provider:
        raise ModelError(
            f"{name} has no tier for {tokens:,} tokens, its largest is up to {settings.tiers[-1].up_to:,}; add a tier, or"
            f" give it a provider and it answers what is larger itself",
            retryable=False,
        )
    return fitting
