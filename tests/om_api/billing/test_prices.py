"""What calls of models cost, and that nobody's ignorance of a price fails anything."""

import pytest

from om_api.billing.prices import TokenPrices, Tokens, is_extractive, micros, rates, unenforceable
from om_api.settings import ModelSettings, load_settings

MODELS = {
    "stated": ModelSettings(provider="openai", prices={"input": 1.0, "cached": 0.1, "output": 4.0}),
    "plain": ModelSettings(provider="openai", prices={"input": 1.0, "output": 4.0}),
    "free": ModelSettings(base_url="http://localhost:8000/v1", prices={"input": 0, "output": 0}),
    "gemini-2.5-flash": ModelSettings(provider="gemini", model="gemini-2.5-flash"),
    "fast": ModelSettings(provider="gemini", model="gemini-2.5-flash", base_url="http://localhost:9000"),
    "mine": ModelSettings(base_url="http://localhost:8000/v1", model="gpt-4o-mini"),
    "routed": ModelSettings(base_url="https://openrouter.ai/api/v1", model="z-ai/glm-4.6"),
    "extractive": ModelSettings(provider="extractive"),
    "notes": ModelSettings(provider="extractive"),
    "rehearsal": ModelSettings(provider="scripted"),
    "unknown": ModelSettings(provider="openai", model="nobody-knows-it"),
}
NOTHING, FRESH, CACHED, ANSWER = Tokens(0), Tokens(1_000), Tokens(1_000, 600), Tokens(1_000, 600, 200)


@pytest.mark.parametrize(
    ("name", "nothing", "fresh", "cached", "answer"),
    [
        ("stated", 0, 1_000, 460, 1_260),
        ("plain", 0, 1_000, 1_000, 1_800),
        ("free", 0, 0, 0, 0),
        ("gemini-2.5-flash", 0, 300, 138, 638),
        ("fast", 0, 300, 138, 638),
        ("extractive", 0, 0, 0, 0),
        ("notes", 0, 0, 0, 0),
        ("rehearsal", 0, 0, 0, 0),
        ("unknown", None, None, None, None),
        ("mine", None, None, None, None),
        ("not/listed:anywhere", None, None, None, None),
    ],
)
def test_every_usage_has_its_price_in_millionths_of_a_dollar(name, nothing, fresh, cached, answer):
    expected = [nothing, fresh, cached, answer]

    assert [micros(name, MODELS, usage) for usage in (NOTHING, FRESH, CACHED, ANSWER)] == expected


def test_a_model_behind_a_router_costs_what_the_router_asks():
    assert micros("routed", MODELS, FRESH) > 0


def test_a_model_that_is_listed_nowhere_is_found_by_its_name():
    assert micros("gpt-4o-mini", {}, Tokens(1_000_000)) == 150_000


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Tokens(-5, -5, -5), Tokens(0, 0, 0)),
        (Tokens(10, 50, 1), Tokens(10, 10, 1)),
        (Tokens(10**30, 0, 10**30), Tokens(10**9, 0, 10**9)),
    ],
)
def test_what_no_provider_can_mean_is_not_billed(said, meant):
    assert said.sane() == meant
    assert micros("stated", MODELS, said) == micros("stated", MODELS, meant)


def test_rates_are_dollars_per_million_tokens():
    assert rates("stated", MODELS)[:2] == (1.0, 0.1)
    assert rates("plain", MODELS)[:2] == (1.0, 1.0)
    assert rates("gemini-2.5-flash", MODELS) == TokenPrices(0.3, 0.03, 2.5)
    assert rates("unknown", MODELS) is None


def test_only_the_extractive_model_counts_as_no_model():
    assert [name for name in MODELS if is_extractive(name, MODELS)] == ["extractive", "notes"]
    assert is_extractive("extractive", {})


def test_the_models_that_a_budget_in_dollars_cannot_bound_are_named():
    mystery = {"OM_OBSERVER_MODEL": "[mystery, extractive]", "OM_REFLECTOR_MODEL": "gemini-2.5-flash"}

    assert unenforceable(load_settings(environ=mystery)) == []
    assert unenforceable(load_settings(environ={**mystery, "OM_BUDGET__DOLLARS_PER_DAY": "5"})) == ["mystery"]
    assert unenforceable(load_settings(environ={**mystery, "OM_TOTAL_BUDGET__DOLLARS_PER_DAY": "5"})) == ["mystery"]


def test_of_a_model_that_is_made_of_tiers_these_are_named():
    tiers = {
        "OM_MODELS__TIERED__TIERS": "[{up_to: 1000, model: mystery}, {up_to: 9000, model: gpt-4o}]",
        "OM_MODEL": "tiered",
        "OM_BUDGET__DOLLARS_PER_DAY": "5",
    }

    assert unenforceable(load_settings(environ=tiers)) == ["mystery"]
