"""Which models are to be what, of all agents: those of tiers included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.settings import ModelSettings
from om_api.settings.providers import who_answers

if TYPE_CHECKING:
    from om_api.discouraged import Role
    from om_api.settings import Settings


def roles(settings: Settings) -> list[tuple[Role, str]]:
    """Who is to be Observer or Reflector of anybody, each once."""
    found: dict[tuple[Role, str], None] = {}
    for each in (settings.memory, *(settings.for_agent(name) for name in settings.agents())):
        found |= {("observer", model): None for name in each.observer_models for model in _answering(settings, name)}
        found |= {("reflector", model): None for name in each.reflector_models for model in _answering(settings, name)}
    return list(found)


def in_use(settings: Settings) -> list[str]:
    """The models of every agent's Observer and Reflector, each once."""
    return list(dict.fromkeys(name for _, name in roles(settings)))


def known(settings: Settings) -> list[str]:
    """The models in use, and those that stand in the configuration beside them: all that have a breaker."""
    return list(dict.fromkeys((*in_use(settings), *settings.models)))


def _answering(settings: Settings, name: str) -> list[str]:
    return who_answers(name, settings.models.get(name) or ModelSettings())
