"""Models by name: who serves them, where, what they cost, and which variable holds their key."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from om_api.settings.sections.fields import (
    MAX_TOKENS,
    Group,
    contradiction,
    finite,
    number,
    secret_variable,
    setting,
    tokens,
)
from om_api.settings.sections.urls import has_password

DEFAULT_MODELS: dict[str, dict[str, Any]] = {
    "gemini-2.5-flash": {"provider": "gemini", "api_key_env": "GEMINI_API_KEY", "start_level": 2},
    "deepseek": {
        "provider": "openai",
        "model": "deepseek-chat",
        "base_url": "https://api.deepseek.com",
        "api_key_env": "DEEPSEEK_API_KEY",
    },
    "extractive": {"provider": "extractive", "start_level": 0},
}
# Each provider's variable at its own address; "" for those that need none. No other address is ever shown these keys unasked.
KEY_VARIABLES = {"extractive": "", "gemini": "GEMINI_API_KEY", "openai": "OPENAI_API_KEY", "scripted": ""}
MODEL_NAME = re.compile(r"[A-Za-z0-9._:/@+-]{1,200}")
_OMIT: Literal["omit"] = "omit"
_HOTTEST = 2
_TIERS = "a list of {up_to: tokens, model: name}, each up_to above the one before; no model that has tiers itself"
_DEAREST = 1_000_000  # dollars per million tokens: the store counts millionths of a dollar in whole numbers of 64 bits
_MOST = 1_000_000_000
_LIMITS = {"requests_per_minute", "tokens_per_minute", "concurrency"}
_SECRETS = {"apikey", "password", "secret", "authorization", "accesstoken"}


def _plain_url(url: str) -> str:
    if not url.startswith(("http://", "https://")) or has_password(url):
        raise ValueError("no plain address")
    return url


def _prices(prices: dict[str, float]) -> dict[str, float]:
    known = {"input", "output"} <= prices.keys() <= {"input", "cached", "output"}
    if not known or not all(0 <= price <= _DEAREST for price in prices.values()):
        raise ValueError("no prices")
    return prices


def _temperature(value: object) -> float | Literal["omit"] | None:
    if value is None or value == _OMIT:
        return None if value is None else _OMIT
    if not 0 <= (degrees := finite(value)) <= _HOTTEST:
        raise ValueError("out of range")
    return float(degrees)  # what a union of float and text says of an int is a warning


def _limits(limits: dict[str, int | None]) -> dict[str, int | None]:
    if not limits.keys() <= _LIMITS or not all(value is None or 1 <= value <= _MOST for value in limits.values()):
        raise ValueError("no limits")
    return limits


class Tier(Group):
    """Requests up to a size, that size included, and the name of the model that answers them."""

    up_to: int = setting(..., "largest request that this model answers", _TIERS, "tokens", ge=1, le=MAX_TOKENS)
    model: str = setting(..., "the model's name", _TIERS, pattern=r"^[A-Za-z0-9._:/@+-]{1,200}$")


def _ascending(tiers: Sequence[Tier]) -> Sequence[Tier]:
    """The tiers as they are; ValueError unless each is larger than the one before: it could never be chosen."""
    sizes = [tier.up_to for tier in tiers]
    if sizes != sorted(set(sizes)):
        raise ValueError("not ascending")
    return tiers


class ModelSettings(Group):
    """One model: provider, address and the name of the variable that holds its key; never the key itself."""

    provider: str = setting(
        "",
        "who serves it; empty: openai if there is a base_url, else guessed from the name",
        "gemini, openai (anything that speaks its protocol), extractive or scripted",
    )
    model: str = setting("", "the provider's name for it; empty: the name it is listed under", "text")
    base_url: Annotated[str, AfterValidator(_plain_url)] | None = setting(
        None,
        "address of the provider; null: the provider's own",
        "http:// or https://, without a password",
        secret=True,
    )
    api_key_env: str | None = secret_variable("key")
    temperature: Annotated[float | Literal["omit"] | None, PlainValidator(_temperature)] = setting(
        None,
        "its own temperature; null: the agent's; omit: none is sent, for models that refuse one",
        "0 to 2, omit or null",
    )
    max_output_tokens: int | None = tokens(
        None, "most tokens of one answer, thinking included; null: the provider's own limit", least=1
    )
    options: dict[str, Any] = setting(
        {}, "further fields of every request, as the provider names them; they win over all else", "a mapping"
    )
    tiers: Annotated[list[Tier], AfterValidator(_ascending)] = setting(
        [], "models that answer in its place, by the size of the request; above the largest it answers itself", _TIERS
    )
    start_level: int = number(
        1,
        "how hard it is pressed when it first condenses; more for a model that shortens little. A reflection asked for by"
        " hand begins at 0",
        0,
        4,
        "level of compression",
    )
    prices: Annotated[dict[str, float], AfterValidator(_prices)] | None = setting(
        None,
        "what it costs; cached input costs as much as input if not stated; null: as genai-prices knows it, if it does",
        "a mapping with input, output and, if you like, cached; 0 to 1,000,000 each",
        "dollars per million tokens",
    )
    limits: Annotated[dict[str, int | None], AfterValidator(_limits)] | None = setting(
        None,
        "what all workers together ask of it at most; tokens are those of the requests; null, or one left out: no such limit",
        "a mapping with requests_per_minute, tokens_per_minute and concurrency, or some of them; 1 to 1,000,000,000 each,"
        " or null",
        "calls and tokens a minute, calls at the same time",
    )

    def temperature_for(self, agents: float) -> float | None:
        """The temperature that is sent for an agent's; None: none is."""
        if self.temperature is None:
            return agents
        return None if self.temperature == _OMIT else self.temperature

    @model_validator(mode="before")
    @classmethod
    def _without_secrets(cls, data: Any) -> Any:
        """Refuse keys in files, and fill in the provider that an address of its own implies."""
        for key in _keys(data):
            if "".join(filter(str.isalnum, key.lower())) in _SECRETS:
                text = f"{key} holds a secret, which no file may; use api_key_env and name the variable that holds it"
                raise PydanticCustomError("advice", "{text}", {"text": text})
        if isinstance(data, dict) and data.get("base_url") and not data.get("provider"):
            return {**data, "provider": "openai"}
        return data


def _keys(data: object) -> list[str]:
    if not isinstance(data, dict):
        return []
    return [key for name, value in data.items() for key in (str(name), *_keys(value))]


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


def provider_of(name: str, settings: ModelSettings) -> str:
    """The provider that serves a model: what its settings say, else guessed from its name."""
    if settings.provider:
        return settings.provider
    return name if name in KEY_VARIABLES else "gemini" if name.startswith("gemini") else "openai"


def who_answers(name: str, settings: ModelSettings) -> list[str]:
    """The models that may answer for a name: those of its tiers, and it itself unless it is made of nothing else."""
    alone = [name] if settings.provider or not settings.tiers else []
    return [*(tier.model for tier in settings.tiers), *alone]


def key_variable(name: str, settings: ModelSettings) -> str:
    """The environment variable that holds a model's key; "" if it is asked without one.

    It is the one that the model names, or the provider's usual one at the provider's own address.
    """
    usual = "" if settings.base_url else KEY_VARIABLES.get(provider_of(name, settings), "")
    return settings.api_key_env or usual
