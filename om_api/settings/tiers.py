"""Tiers: a model that leaves requests to other models, by their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.settings.fields import MAX_TOKENS, Group, contradiction, setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from om_api.settings.models import ModelSettings

TIERS = "a list of {up_to: tokens, model: name}, each up_to above the one before; no model that has tiers itself"


class Tier(Group):
    """Requests up to a size, that size included, and the name of the model that answers them."""

    up_to: int = setting(..., "largest request that this model answers", TIERS, "tokens", ge=1, le=MAX_TOKENS)
    model: str = setting(..., "the model's name", TIERS, pattern=r"^[A-Za-z0-9._:/@+-]{1,200}$")


def ascending(tiers: Sequence[Tier]) -> Sequence[Tier]:
    """The tiers as they are; ValueError unless each is larger than the one before: it could never be chosen."""
    sizes = [tier.up_to for tier in tiers]
    if sizes != sorted(set(sizes)):
        raise ValueError("not ascending")
    return tiers


def check_tiers(models: Mapping[str, ModelSettings]) -> None:
    """Raise a contradiction when a tier's model has tiers itself: nobody could tell from one place who answers."""
    for name, settings in models.items():
        for tier in settings.tiers:
            if (other := models.get(tier.model)) and other.tiers:
                raise contradiction(
                    f"models.{name}.tiers names {tier.model}, which has tiers itself; permitted: models without tiers",
                    f"models.{name}.tiers",
                    f"models.{tier.model}.tiers",
                )
