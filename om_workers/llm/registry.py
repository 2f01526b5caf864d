"""Which model answers for a name: providers by their word, and the model-free one where none of them can answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import structlog

from om_api.errors import SettingsError
from om_api.lru import LRU
from om_api.settings import ModelSettings
from om_api.settings.providers import provider_of
from om_workers.llm.extractive import Extractive
from om_workers.llm.keys import key_of
from om_workers.llm.scripted import Scripted
from om_workers.llm.tiers import answering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.settings import Settings
    from om_workers.llm.base import Model

Variable: TypeAlias = Callable[[str], str | None]
Factory: TypeAlias = "Callable[[str, ModelSettings, Variable], Model]"
MADE = 256  # models with their settings, of each time they were changed
KEPT_REQUESTS = 100
_log = structlog.get_logger("om_workers")


def _extractive(_name: str, _settings: ModelSettings, _variable: Variable) -> Model:
    return Extractive()


def _gemini(name: str, settings: ModelSettings, variable: Variable) -> Model:
    from om_workers.llm.gemini import Gemini  # noqa: PLC0415 -- each SDK takes half a second and 30 MB, used or not

    return Gemini(name, settings, key_of(name, settings, variable))


def _openai(name: str, settings: ModelSettings, variable: Variable) -> Model:
    from om_workers.llm.openai_compatible import OpenAICompatible  # noqa: PLC0415 -- the same

    return OpenAICompatible(name, settings, key_of(name, settings, variable))


def _scripted(name: str, settings: ModelSettings, _variable: Variable) -> Model:
    delay, answer = settings.options.get("delay", 0), settings.options.get("answer", "")
    return Scripted.echo(name=name, delay=float(delay), answer=str(answer), keep=KEPT_REQUESTS)


_PROVIDERS: dict[str, Factory] = {
    "extractive": _extractive,
    "gemini": _gemini,
    "openai": _openai,
    "scripted": _scripted,
}


def _factory(provider: str) -> Factory:
    if provider not in _PROVIDERS:
        raise SettingsError(f"there is no provider {provider}; permitted: {', '.join(_PROVIDERS)}")
    return _PROVIDERS[provider]


class Registry:
    """Makes models by name, once each; says once which names nobody here can answer for, and why."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: LRU[tuple[str, str], Model | None] = LRU(MADE)
        self._making = threading.Lock()  # threads that ask for the same model get the same one
        self.extractive = Extractive()

    def model(self, names: Sequence[str]) -> Model:
        """The first of the named models that can answer; the extractive one when none can."""
        return next((model for name in names if (model := self.model_for(name, 0))), self.extractive)

    def model_for(self, name: str, tokens: int) -> Model | None:
        """The model that answers a request of so many tokens for a name; None if it cannot be used here.

        Raises ModelError (not retryable) for a request above every tier of a name that no provider stands behind.
        """
        return self._known(answering(name, self._of(name), tokens))

    def _of(self, name: str) -> ModelSettings:
        return self._settings.models.get(name) or ModelSettings()

    def _known(self, name: str) -> Model | None:
        settings = self._of(name)
        key = (name, settings.model_dump_json())
        with self._making:
            if key not in self._made:
                self._made.put(key, self._make(name, settings))
            return self._made.get(key)

    def _make(self, name: str, settings: ModelSettings) -> Model | None:
        provider = provider_of(name, settings)
        try:
            return _factory(provider)(name, settings, self._settings.variable)
        except SettingsError as error:
            reason = str(error)
        _log.warning(
            "model_not_available",
            model=name,
            provider=provider,
            reason=reason,
            available=sorted(_PROVIDERS),
            instead="the next model of the list, at last the extractive observer and reflector, which need no key",
        )
        return None
