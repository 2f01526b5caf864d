"""The models that a run names: whether they can be asked here, and what would make them others."""

import hashlib
from collections.abc import Iterable, Mapping

from om_api.billing.prices import is_extractive, rates
from om_api.domain.errors import ModelError, SettingsError
from om_api.settings import ModelSettings, Settings
from om_api.settings.model_settings import key_variable, who_answers
from om_bench.judged.asking import SCRIPTED
from om_workers.calls.registry import Registry

NOTES = "--observer"  # the option of who takes them, which may be no model at all


def check(named: Mapping[str, str], settings: Settings, registry: Registry) -> None:
    """Raise SettingsError for a model that cannot be asked here; `named` are names by the options that name them."""
    for option, name in named.items():
        if option != NOTES and is_extractive(name, settings.models):
            raise SettingsError(f"{option} {name} takes notes and answers nothing: name a model, or `{SCRIPTED}`")
        known = settings.models.get(name) or ModelSettings()
        for one in who_answers(name, known):
            _check_key(f"{option} {name}", one, settings)
            try:
                registry.itself(one)
            except ModelError as error:
                raise SettingsError(f"{option} {name}: {error}; docs/models.md says how to name a model") from error


def _check_key(option: str, name: str, settings: Settings) -> None:
    known = settings.models.get(name)
    holder = key_variable(name, known or ModelSettings())
    if holder and not (settings.variable(holder) or "").strip():
        if known is None and rates(name, settings.models) is None:
            raise SettingsError(
                f"{option} is no model that is known here: name an entry of `models:` in your configuration"
                f" ({', '.join(sorted(settings.models))}), a provider's own name such as gemini-2.5-flash or gpt-5-mini, or"
                f" `{SCRIPTED}`; if it is one of the provider's, set {holder}. docs/models.md says how to name a model"
            )
        raise SettingsError(
            f"{option} needs a key: set {holder} to the provider's, or name `{SCRIPTED}`, which needs none"
        )


def digests(names: Iterable[str], settings: Settings) -> dict[str, str]:
    """A hash of what the configuration says of each of these models; no key is part of it."""
    known = {name: settings.models.get(name) or ModelSettings() for name in names}
    return {name: hashlib.sha256(model.model_dump_json().encode()).hexdigest()[:16] for name, model in known.items()}
