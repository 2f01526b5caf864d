"""Trying a model out: a worker is asked to make a test call, for whoever asks never calls a model."""

from om_api.billing import models
from om_api.domain.errors import NotFoundError
from om_api.domain.values import shown
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.fleet import model_trials
from om_api.store.fleet.model_trials import ModelTrial
from om_api.store.memory.keys import Keys

_NAMED = 10


class ModelTester:
    """Asks for test calls of the models that are Observer or Reflector of anybody, or stand in the configuration."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys

    def ask(self, model: str, wait: float) -> Steps[ModelTrial]:
        """Ask for one, and look for its answer for `wait` seconds; raises NotFoundError for a model that workers do not use."""
        known = models.with_breaker(self._settings)
        if model not in known:
            named = ", ".join(known[:_NAMED]) + (", …" if len(known) > _NAMED else "")
            raise NotFoundError(f"no worker uses a model {shown(model)!r}: name one of {named}")
        asked = yield from model_trials.ask(self._keys, model)
        return (yield from self.stands(model, asked.asked_at, wait))

    def stands(self, model: str, asked_at: int, wait: float) -> Steps[ModelTrial]:
        """What came of one; see model_trials.stands."""
        return model_trials.stands(self._keys, model, asked_at, wait)
