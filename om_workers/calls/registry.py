"""Which model answers for a name: a provider's by the size of what is asked, and the model-free one where none can."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

import structlog

from om_api.billing.prices import context_window
from om_api.domain.caching import LRU
from om_api.domain.errors import ModelError, SettingsError
from om_api.domain.extras import missing
from om_api.settings import ModelSettings, Settings
from om_api.settings.model_settings import key_variable, provider_of
from om_workers.llm.base import Model
from om_workers.llm.deadline import WaitFor, to_the_end
from om_workers.llm.extractive import Extractive
from om_workers.llm.scripted import Scripted

Variable: TypeAlias = Callable[[str], str | None]
MADE = 256  # models with their settings, of each time they were changed
KEPT_REQUESTS = 100
_PROVIDERS = ("extractive", "gemini", "openai", "scripted")
_log = structlog.get_logger("om_workers")


def key_of(name: str, settings: ModelSettings, variable: Variable) -> str:
    """The key that a model's settings ask for, "" if they ask for none; `variable` reads the environment.

    Only the variable they name is read, or the provider's usual one at the provider's own address: no other server is ever
    shown that one. Raises SettingsError when a variable is asked for and holds no key.
    """
    holder = key_variable(name, settings)
    if not holder:
        return ""
    key = (variable(holder) or "").strip()
    if not (key and key.isascii() and key.isprintable()):
        raise SettingsError(f"{holder} holds no key; set it to the provider's key and restart the workers")
    return key


class Registry:
    """Makes models by name, once each; says once which names nobody here can answer for, and why.

    `wait` is how their calls are waited for.
    """

    def __init__(self, settings: Settings, wait: WaitFor = to_the_end) -> None:
        self._settings = settings
        self._wait = wait
        self._made: LRU[tuple[str, str], Model | str] = LRU(MADE)  # or why it cannot be used
        self._making = threading.Lock()  # threads that ask for the same model get the same one
        self.extractive = Extractive()

    def model(self, names: Sequence[str]) -> Model:
        """The first of the named models that can answer; the extractive one when none can."""
        return next((model for name in names if (model := self.model_for(name, 0))), self.extractive)

    def model_for(self, name: str, tokens: int) -> Model | None:
        """The model that answers a request of so many tokens for a name: its smallest tier that holds them, else itself.

        None if that cannot be used here. Raises ModelError (not retryable) for a request above every tier of a name that no
        provider stands behind.
        """
        settings = self._of(name)
        fitting = next((tier.model for tier in settings.tiers if tokens <= tier.up_to), name)
        if fitting == name and settings.tiers and not settings.provider:
            raise ModelError(
                f"{name} has no tier for {tokens:,} tokens, its largest is up to {settings.tiers[-1].up_to:,}; add a tier,"
                f" or give it a provider and it answers what is larger itself",
                retryable=False,
            )
        found = self._known(fitting)
        return None if isinstance(found, str) else found

    def itself(self, name: str) -> Model:
        """The model that a name means, whatever its tiers; raises ModelError (not retryable) with why there is none."""
        settings = self._of(name)
        if settings.tiers and not settings.provider:
            tiers = ", ".join(tier.model for tier in settings.tiers)
            raise ModelError(f"{name} answers nothing itself: try its tiers, {tiers}", retryable=False)
        found = self._known(name)
        if isinstance(found, str):
            raise ModelError(f"{name} cannot be used where it was to be asked: {found}", retryable=False)
        return found

    def _of(self, name: str) -> ModelSettings:
        return self._settings.models.get(name) or ModelSettings()

    def _known(self, name: str) -> Model | str:
        settings = self._of(name)
        key = (name, settings.model_dump_json())
        with self._making:
            if (made := self._made.get(key)) is None:
                made = self._make(name, settings)
                self._made.put(key, made)
            return made

    def _make(self, name: str, settings: ModelSettings) -> Model | str:
        provider = provider_of(name, settings)
        try:
            return self._provided(provider, name, settings)
        except SettingsError as error:
            reason = str(error)
        except ModuleNotFoundError as error:
            reason = str(missing(error))
        _log.warning(
            "model_not_available",
            model=name,
            provider=provider,
            reason=reason,
            available=list(_PROVIDERS),
            instead="the next model of the list, at last the extractive observer and reflector, which need no key",
        )
        return reason

    def _provided(self, provider: str, name: str, settings: ModelSettings) -> Model:
        if provider not in _PROVIDERS:
            raise SettingsError(f"there is no provider {provider}; permitted: {', '.join(_PROVIDERS)}")
        if provider == "extractive":
            return Extractive()
        if provider == "scripted":
            delay, answer = settings.options.get("delay", 0), settings.options.get("answer", "")
            options = {"name": name, "keep": KEPT_REQUESTS, "wait": self._wait}
            return Scripted.echo(delay=float(delay), answer=str(answer), **options)
        if most := settings.max_output_tokens:  # providers refuse a request for more than the model's window
            window = context_window(name, self._settings.models)
            settings = settings.model_copy(update={"max_output_tokens": min(most, window or most)})
        key = key_of(name, settings, self._settings.variable)  # first: each SDK takes half a second and 30 MB to import
        if provider == "gemini":
            from om_workers.llm.gemini import Gemini  # noqa: PLC0415 -- only where it is used

            return Gemini(name, settings, key, self._wait)
        from om_workers.llm.openai_compatible import OpenAICompatible  # noqa: PLC0415 -- the same

        return OpenAICompatible(name, settings, key, self._wait)
