"""What calls of models cost: by the prices that the configuration states, else by those of genai-prices, which asks nobody."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from genai_prices import Usage, calc_price

from om_api.settings import ModelSettings
from om_api.settings.providers import provider_of, who_answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from om_api.settings import Settings

MICROS = 1_000_000  # in a dollar
EXTRACTIVE = "extractive"
_FREE = frozenset((EXTRACTIVE, "scripted"))
_GOOGLE, _OPENAI = "google", "openai"  # as genai-prices calls them
_SAMPLE = 1_000  # tokens: every model takes as many at its plainest price
_MOST = 1_000_000_000  # tokens of one call that anyone believes


class Tokens(NamedTuple):
    """Tokens of one call as they are billed: `input` includes `cached`, `output` includes what the model only thought."""

    input: int
    cached: int = 0
    output: int = 0

    def sane(self) -> Tokens:
        """The same without what no provider can mean: less than nothing, or more cached than was sent."""
        sent = min(max(self.input, 0), _MOST)
        return Tokens(sent, min(max(self.cached, 0), sent), min(max(self.output, 0), _MOST))


class Rates(NamedTuple):
    """Dollars per million tokens of input, fresh and cached, for contexts of ordinary length."""

    fresh: float
    cached: float


def is_extractive(name: str, models: Mapping[str, ModelSettings]) -> bool:
    """Whether a name means no model at all."""
    model = models.get(name)
    return ((model and model.provider) or name) == EXTRACTIVE


def micros(name: str, models: Mapping[str, ModelSettings], tokens: Tokens) -> int | None:
    """What a call costs in millionths of a dollar, rounded; None when nobody knows the model's prices. Raises nothing.

    `name` as the configuration calls the model: its `prices` there win, else provider (or address) and name are looked up.
    """
    dollars = _dollars(name, models.get(name), tokens.sane())
    return None if dollars is None else round(dollars * MICROS)


def rates(name: str, models: Mapping[str, ModelSettings]) -> Rates | None:
    """What a million tokens of input cost; None when nobody knows. Surcharges on very long contexts are left out."""
    model = models.get(name)
    fresh = _dollars(name, model, Tokens(_SAMPLE))
    cached = _dollars(name, model, Tokens(_SAMPLE, _SAMPLE))
    if fresh is None or cached is None:
        return None
    return Rates(float(fresh * MICROS / _SAMPLE), float(cached * MICROS / _SAMPLE))


def unenforceable(settings: Settings) -> list[str]:
    """The models in use whose prices nobody knows though a budget in dollars should bound them, each once."""
    memories = [settings.memory, *(settings.for_agent(name) for name in settings.agents())]
    total = settings.memory.total_budget.dollars_per_day is not None
    bounded = [each for each in memories if total or each.budget.dollars_per_day is not None]
    named = [name for each in bounded for name in (*each.observer_models, *each.reflector_models)]
    models = settings.models
    names = dict.fromkeys(one for name in named for one in who_answers(name, models.get(name) or ModelSettings()))
    return [name for name in names if micros(name, models, Tokens(_SAMPLE)) is None]


def _dollars(name: str, model: ModelSettings | None, tokens: Tokens) -> Decimal | None:
    if model and model.prices:
        return _stated(model.prices, tokens)
    if ((model and model.provider) or name) in _FREE:
        return Decimal(0)
    return _known(name, model, tokens)


def _stated(prices: Mapping[str, float], tokens: Tokens) -> Decimal:
    cached = prices.get("cached", prices["input"])
    fresh = tokens.input - tokens.cached
    pairs = ((fresh, prices["input"]), (tokens.cached, cached), (tokens.output, prices["output"]))
    return sum((amount * Decimal(str(price)) for amount, price in pairs), Decimal(0)) / MICROS


def _known(name: str, model: ModelSettings | None, tokens: Tokens) -> Decimal | None:
    usage = Usage(input_tokens=tokens.input, cache_read_tokens=tokens.cached, output_tokens=tokens.output)
    try:
        if model is None:
            return calc_price(usage, name).total_price
        reference = model.model or name
        if model.base_url and model.provider != "gemini":  # whoever serves it there names the price, not its maker
            return calc_price(usage, reference, provider_api_url=model.base_url).total_price
        google = provider_of(name, model) == "gemini"
        return calc_price(usage, reference, provider_id=_GOOGLE if google else _OPENAI).total_price
    except (LookupError, ValueError):
        return None
