"""What calls of models cost: by the prices that the configuration states, else by those of genai-prices, which asks nobody."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from om_api.domain.extras import missing
from om_api.settings import ModelSettings, Settings
from om_api.settings.model_settings import provider_of, who_answers

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

    def sane(self) -> "Tokens":
        """The same without what no provider can mean: less than nothing, or more cached than was sent."""
        sent = min(max(self.input, 0), _MOST)
        return Tokens(sent, min(max(self.cached, 0), sent), min(max(self.output, 0), _MOST))


class TokenPrices(NamedTuple):
    """Dollars per million tokens: of input, fresh and cached, for contexts of ordinary length, and of output."""

    fresh: float
    cached: float
    output: float = 0.0

    def dollars(self, fresh: float, cached: float, output: float = 0) -> float:
        """What so many tokens cost."""
        return (fresh * self.fresh + cached * self.cached + output * self.output) / MICROS


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


def rates(name: str | None, models: Mapping[str, ModelSettings], at: datetime | None = None) -> TokenPrices | None:
    """What a million tokens cost, `at` some time or now; None when nobody knows. Surcharges on long contexts are left out."""
    if name is None:
        return None
    samples = (Tokens(_SAMPLE), Tokens(_SAMPLE, _SAMPLE), Tokens(0, 0, _SAMPLE))
    found = [_dollars(name, models.get(name), sample, at) for sample in samples]
    known = [float(dollars * MICROS / _SAMPLE) for dollars in found if dollars is not None]
    return TokenPrices(*known) if len(known) == len(samples) else None


def context_window(name: str, models: Mapping[str, ModelSettings]) -> int:
    """How many tokens a model reads at most, as genai-prices knows it; 0 where it does not."""
    model = models.get(name)
    if ((model and model.provider) or name) in _FREE:
        return 0
    found = _calculated(name, model, Tokens(_SAMPLE), None)
    return (found.model.context_window or 0) if found else 0


def unenforceable(settings: Settings) -> list[str]:
    """The models in use whose prices nobody knows though a budget in dollars should bound them, each once."""
    memories = [settings.memory, *(settings.for_agent(name) for name in settings.agents())]
    total = settings.memory.total_budget.dollars_per_day is not None
    bounded = [each for each in memories if total or each.budget.dollars_per_day is not None]
    named = [name for each in bounded for name in (*each.observer_models, *each.reflector_models)]
    models = settings.models
    names = dict.fromkeys(one for name in named for one in who_answers(name, models.get(name) or ModelSettings()))
    return [name for name in names if micros(name, models, Tokens(_SAMPLE)) is None]


def _dollars(name: str, model: ModelSettings | None, tokens: Tokens, at: datetime | None = None) -> Decimal | None:
    if model and model.prices:
        return _stated(model.prices, tokens)
    if ((model and model.provider) or name) in _FREE:
        return Decimal(0)
    return _known(name, model, tokens, at)


def _stated(prices: Mapping[str, float], tokens: Tokens) -> Decimal:
    cached = prices.get("cached", prices["input"])
    fresh = tokens.input - tokens.cached
    pairs = ((fresh, prices["input"]), (tokens.cached, cached), (tokens.output, prices["output"]))
    return sum((amount * Decimal(str(price)) for amount, price in pairs), Decimal(0)) / MICROS


def _known(name: str, model: ModelSettings | None, tokens: Tokens, at: datetime | None) -> Decimal | None:
    found = _calculated(name, model, tokens, at)
    return None if found is None else found.total_price


def _calculated(name: str, model: ModelSettings | None, tokens: Tokens, at: datetime | None) -> Any:
    """What genai-prices says of a call; None where it does not know the model."""
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 -- 0.1 s and 30 MB, which an agent seldom needs
    except ModuleNotFoundError as error:
        raise missing(error) from None
    usage = Usage(input_tokens=tokens.input, cache_read_tokens=tokens.cached, output_tokens=tokens.output)
    reference = (model and model.model) or name
    try:
        if model and model.base_url and model.provider != "gemini":
            # whoever serves it there names the price, not its maker
            return calc_price(usage, reference, provider_api_url=model.base_url, genai_request_timestamp=at)
        provider = (_GOOGLE if provider_of(name, model) == "gemini" else _OPENAI) if model else None
        return calc_price(usage, reference, provider_id=provider, genai_request_timestamp=at)
    except (LookupError, ValueError):
        return None
