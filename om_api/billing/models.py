"""Which models are to be Observer or Reflector of all agents, those of tiers included, and which make poor ones.

These are told by patterns of their names, each with the reason: model_advice.yaml.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from om_api.settings import ModelSettings, Settings
from om_api.settings.model_settings import key_variable, who_answers

Role = Literal["observer", "reflector"]
ROLES: tuple[Role, ...] = ("observer", "reflector")


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Models whose names fit one of the patterns (case does not matter), in which roles, and why."""

    patterns: tuple[str, ...]
    roles: tuple[Role, ...]
    reason: str


def by_role(settings: Settings) -> list[tuple[Role, str]]:
    """Who is to be Observer or Reflector of anybody, each once."""
    found: dict[tuple[Role, str], None] = {}
    for each in (settings.memory, *(settings.for_agent(name) for name in settings.agents())):
        found |= {("observer", model): None for name in each.observer_models for model in answering(settings, name)}
        found |= {("reflector", model): None for name in each.reflector_models for model in answering(settings, name)}
    return list(found)


def in_use(settings: Settings) -> list[str]:
    """The models of every agent's Observer and Reflector, each once."""
    return list(dict.fromkeys(name for _, name in by_role(settings)))


def with_breaker(settings: Settings) -> list[str]:
    """The models in use, and those that stand in the configuration beside them: all that have a breaker."""
    return list(dict.fromkeys((*in_use(settings), *settings.models)))


def missing_key(settings: Settings, name: str) -> str:
    """The variable of a model's key that is not set here; "" when nothing is known to be missing."""
    variable = key_variable(name, settings.models.get(name) or ModelSettings())
    return "" if not variable or (settings.variable(variable) or "").strip() else variable


def answering(settings: Settings, name: str) -> list[str]:
    """The models that may answer for a name of the configuration."""
    return who_answers(name, settings.models.get(name) or ModelSettings())


@cache
def advice() -> tuple[Advice, ...]:
    """All advice there is, read once a process."""
    written = files(__package__).joinpath("model_advice.yaml").read_bytes()
    return msgspec.yaml.decode(written, type=tuple[Advice, ...])


def why_not(role: Role, names: Iterable[str]) -> str:
    """The reason against a model in a role, "" if none is known; `names` are ours and its provider's for it."""
    lowered = [name.lower() for name in names]
    against = [(pattern, each.reason) for each in advice() if role in each.roles for pattern in each.patterns]
    return next((reason for pattern, reason in against if any(fnmatchcase(name, pattern) for name in lowered)), "")
