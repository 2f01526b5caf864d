"""Test calls of models: this worker asks one as it would for an agent, and keeps what came of it for whoever wants to know."""

import time

import structlog
from msgspec.structs import replace

from om_api.domain.errors import ModelError
from om_api.domain.values import Outcome
from om_api.store.fleet import model_trials
from om_api.store.fleet.model_trials import ModelTrial
from om_workers.process.stopping import StoppedError
from om_workers.prompts.trial import trial_request
from om_workers.work.services import Services

_LONGEST_S = 30.0  # somebody waits
_SHOWN, _LONGEST_ERROR = 200, 500  # characters
_BROKE = "it broke on our side: the workers' log says model_trial_broke"
_log = structlog.get_logger("om_workers")


class ModelTrier:
    """Makes the test calls that are asked for, within limits, breakers and budgets like any other call."""

    def __init__(self, services: Services) -> None:
        self._services, self._run, self._keys = services, services.run, services.keys

    def make_next(self) -> Outcome:
        """Make the one that waits longest: `rest` however the model answered, `busy` where none waits.

        Raises StoreError when the store is away, StoppedError when this process stops: then another one makes it.
        """
        asked = self._run(model_trials.take(self._keys))
        if asked is None:
            return Outcome.BUSY
        try:
            ended = self._made(asked)
        except StoppedError:
            self._run(model_trials.put_back(self._keys, asked))
            raise
        self._run(model_trials.end(self._keys, ended))
        return Outcome.REST

    def _made(self, asked: ModelTrial) -> ModelTrial:
        observer = self._services.settings.memory.observer
        request = trial_request(temperature=observer.temperature, timeout=min(_LONGEST_S, observer.timeout))
        began = time.monotonic()
        try:
            reply = self._services.models.try_out(asked.model, request)
        except StoppedError:
            raise
        except ModelError as error:
            _log.warning("model_trial_failed", model=asked.model, error=str(error)[:_LONGEST_ERROR])
            return replace(asked, outcome="failed", seconds=_since(began), error=str(error)[:_LONGEST_ERROR])
        except Exception:  # noqa: BLE001 -- somebody waits, and is to be told whatever it was
            _log.exception("model_trial_broke", model=asked.model)
            return replace(asked, outcome="failed", seconds=_since(began), error=_BROKE)
        usage, text = reply.usage, reply.text.strip()[:_SHOWN]
        told = {"input": usage.input, "cached": usage.cached, "output": usage.output, "cost": reply.cost, "text": text}
        return replace(asked, outcome="answered", seconds=_since(began), **told)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
