"""What keeps the workers from observing or reflecting though they were asked: a pause, a budget, a model that rests."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from om_api.billing import budgets, models, prices
from om_api.domain.values import check_id
from om_api.settings import MemorySettings, Settings
from om_api.store.driver.replies import as_bool, as_bytes, as_int, server_ms
from om_api.store.driver.steps import Steps, batch, if_permitted
from om_api.store.fleet import breaker
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.spending import DAY_MS
from om_api.store.memory import model_cooldown
from om_api.store.memory.keys import Keys

Work: TypeAlias = Literal["observe", "reflect"]
_RESTS = {"open": "it failed again and again", "busy": "its provider asked for a pause"}


class Held(msgspec.Struct, frozen=True):
    """Why no model is asked for a resource now, and until when (Unix ms); `until` is None where nobody knows."""

    reason: str
    until: int | None = None

    def __str__(self) -> str:
        """Say both."""
        if self.until is None:
            return f"held: {self.reason}"
        return f"held: {self.reason} until {datetime.fromtimestamp(self.until / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def held(settings: Settings, keys: Keys, resource: str, work: Work) -> Steps[Held | None]:
    """What holds a resource's work by what this process is configured and permitted to see; None where nothing does.

    A reflection that somebody asks for is made although the resource is paused.
    """
    agent = settings.for_agent(check_id(resource, "resource_id"))
    names = agent.observer_models if work == "observe" else agent.reflector_models
    of = keys.of(resource)
    now, paused, waits = yield from batch(
        server_ms(),
        as_bytes("HGET", of.tokens, "*paused"),
        as_bool("EXISTS", of.lock(model_cooldown.LOCK)),
        atomic=False,
    )
    if work == "observe" and paused:
        return Held(f"{resource} is paused, om resume {resource} lets it go on")
    if off := _off(agent):
        return Held(f"{resource} has {off}")
    if prices.is_extractive(names[0], settings.models):  # asks nobody
        return None
    if spent := (yield from _spent(settings, keys, resource, now)):
        return spent
    if work == "observe" and waits:
        left = yield from if_permitted(as_int("PTTL", of.lock(model_cooldown.LOCK)), 0)
        return Held(
            f"{', '.join(names)} could observe nothing, not even what is harmless,", now + left if left > 0 else None
        )
    return (yield from _resting(settings, keys, resource, names, now))


def _off(agent: MemorySettings) -> str:
    return "read_only: true" if agent.read_only else "" if agent.enabled else "enabled: false"


def _spent(settings: Settings, keys: Keys, resource: str, now: int) -> Steps[Held | None]:
    """The budget that is used up and has the work wait, until the next UTC day of the server's."""
    for each in (yield from budgets.of(settings, keys, resource, now)):
        if each.reached and each.then != "extractive":
            whose = "all agents" if each.setting.startswith("total_") else resource
            return Held(f"the budget of {whose} is used up ({each.setting})", (now // DAY_MS + 1) * DAY_MS)
    return None


def _resting(settings: Settings, keys: Keys, resource: str, names: Sequence[str], now: int) -> Steps[Held | None]:
    """The models of a list where every one of them rests: until the first of them may be asked again.

    Extractive steps in for models that failed, never for one that its provider refuses for a while.
    """
    real = [name for name in names if not prices.is_extractive(name, settings.models)]
    answering = {name: models.answering(settings, name) for name in real}
    every = sorted({one for some in answering.values() for one in some})
    states = yield from if_permitted(breaker.states(keys, every, resource), {})
    waits = [_wait([states[one] for one in some if one in states], len(some)) for some in answering.values()]
    words = {states[one].word for one in every if one in states}
    if not all(waits) or (len(real) < len(names) and "busy" not in words):
        return None
    return Held(_named(every, states), now + round(1000 * min(waits)))


def _wait(states: Sequence[BreakerState], many: int) -> float:
    """How long a name is not asked, whichever of its models should answer; 0.0 where one of them may be."""
    resting = [state.wait for state in states if state.word in _RESTS]
    return min(resting) if len(resting) == many else 0.0


def _named(names: Sequence[str], states: Mapping[str, BreakerState]) -> str:
    return ", ".join(f"{name} is resting ({_RESTS[states[name].word]})" for name in names)
