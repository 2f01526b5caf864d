"""The models that are in use or stand in the configuration: who serves them, what they cost, and who uses them."""

from collections.abc import Callable, Iterator

import msgspec

from om_api.billing import models, prices
from om_api.settings import ModelSettings, Settings
from om_api.settings.model_settings import key_variable, provider_of


class ModelUse(msgspec.Struct, frozen=True):
    """Who uses a model and as what; `agent` is a name or a glob, null for every agent without an override.

    A model that `stands_in` is asked because none that is named has a key in this process; with the key it is not.
    """

    agent: str | None
    role: str
    stands_in: bool = False


class ModelInUse(msgspec.Struct, frozen=True):
    """A model as the configuration names it; `prices` are dollars per million tokens, null where nobody knows them.

    `context_window` (tokens) is 0 where it is not known. `key_variable` is set where workers run; `key_is_missing` tells of this
    process alone. `advice`: why it makes a poor Observer or Reflector, by role.
    """

    name: str
    provider: str
    model: str
    base_url: str
    key_variable: str
    key_is_missing: bool
    prices: dict[str, float] | None
    context_window: int
    tiers: tuple[str, ...]
    used_by: tuple[ModelUse, ...]
    advice: dict[str, str]


def model_list(settings: Settings, covers: Callable[[str], bool]) -> list[ModelInUse]:
    """Every model, by name; of those who use it, the agents that somebody may know of."""
    uses = list(_uses(settings))
    found = {name: [use for named, use in uses if named == name] for name in _names(settings, uses)}
    return [
        _model(settings, name, tuple(use for use in found[name] if use.agent is None or covers(use.agent)))
        for name in sorted(found)
        if name in settings.models or any(use.agent is None or covers(use.agent) for use in found[name])
    ]


def _names(settings: Settings, uses: list[tuple[str, ModelUse]]) -> list[str]:
    return list(dict.fromkeys((*settings.models, *(name for name, _ in uses))))


def _uses(settings: Settings) -> Iterator[tuple[str, ModelUse]]:
    for agent in (None, *settings.agents()):
        memory = settings.memory if agent is None else settings.for_agent(agent)
        roles = {"observer": memory.observer_models, "reflector": memory.reflector_models}
        for role, names in roles.items():
            asked = list(dict.fromkeys(one for each in names for one in models.answering(settings, each)))
            yield from ((name, ModelUse(agent, role)) for name in asked)
            if all(models.missing_key(settings, name) for name in asked):
                yield prices.EXTRACTIVE, ModelUse(agent, role, stands_in=True)
        if memory.actor_model:
            yield memory.actor_model, ModelUse(agent, "actor")


def _model(settings: Settings, name: str, uses: tuple[ModelUse, ...]) -> ModelInUse:
    model = settings.models.get(name) or ModelSettings()
    cost = prices.rates(name, settings.models)
    reasons = {role: models.why_not(role, (name, model.model)) for role in models.ROLES}
    return ModelInUse(
        name=name,
        provider=provider_of(name, model),
        model=model.model or name,
        base_url=settings.safe_url(model.base_url or "").partition("?")[0],
        key_variable=key_variable(name, model),
        key_is_missing=bool(models.missing_key(settings, name)),
        prices=cost and {"input": cost.fresh, "cached": cost.cached, "output": cost.output},
        context_window=prices.context_window(name, settings.models),
        tiers=tuple(tier.model for tier in model.tiers),
        used_by=uses,
        advice={role: reason for role, reason in reasons.items() if reason},
    )
