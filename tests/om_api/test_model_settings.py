"""What is said of a single model: its own temperature and size, its tiers, its key's variable."""

from __future__ import annotations

import pytest

from om_api import load_settings
from om_api.errors import SettingsError
from om_api.settings import ModelSettings
from om_api.settings.providers import key_variable, provider_of

TIERED = "{tiers: [{up_to: 10, model: small}, {up_to: 100, model: middle}]}"


@pytest.fixture
def load(tmp_path):
    def load(text, **environ):
        (tmp_path / "observational-memory.yaml").write_text(f"models: {text}")
        return load_settings(tmp_path, environ).models

    return load


@pytest.mark.parametrize(("stated", "sent"), [("null", 0.3), ("1", 1.0), ("0", 0.0), ("omit", None)])
def test_a_models_own_temperature_is_sent_instead_of_the_agents_and_omit_sends_none(load, stated, sent):
    assert load(f"{{m: {{temperature: {stated}}}}}")["m"].temperature_for(0.3) == sent


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("temperature: none", 'temperature is "none"; permitted: 0 to 2, omit or null'),
        ("temperature: 2.1", "permitted: 0 to 2"),
        ("temperature: true", "permitted: 0 to 2"),
        ("max_output_tokens: 0", "permitted: 1 to"),
        ("prices: {input: 1000001, output: 1}", "0 to 1,000,000 each"),
        ("limits: {requests_per_minute: 1000000001}", "1 to 1,000,000,000 each, or null"),
        ("tiers: {up_to: 5}", "permitted: a list of {up_to: tokens, model: name}"),
        ("tiers: [{up_to: 5, model: a}, {up_to: 5, model: b}]", "each up_to above the one before"),
        ("tiers: [{up_to: 9, model: a}, {up_to: 5, model: b}]", "each up_to above the one before"),
        ("tiers: [{up_to: 0, model: a}]", "models.m.tiers.0.up_to is 0"),
        ("tiers: [{up_to: 9, model: ''}]", "models.m.tiers.0.model is"),
        ("tiers: [{up_to: 9}]", "models.m.tiers.0.model is"),
        ("tiers: [{upto: 9, model: a}]", "did you mean models.m.tiers.0.up_to?"),
    ],
)
def test_what_a_model_cannot_be_asked_for_is_refused_with_what_is_permitted(load, entry, what):
    with pytest.raises(SettingsError) as caught:
        load(f"{{m: {{{entry}}}}}")

    assert what in str(caught.value)


def test_the_most_that_a_model_can_be_asked_for_is_permitted(load):
    limits = "{requests_per_minute: 1000000000, tokens_per_minute: 1000000000, concurrency: 1000000000}"
    model = load(f"{{m: {{temperature: 2, prices: {{input: 1000000, output: 1000000}}, limits: {limits}}}}}")["m"]

    assert (model.temperature, set((model.prices or {}).values())) == (2, {1_000_000})
    assert set((model.limits or {}).values()) == {1_000_000_000}


def test_a_tier_that_has_tiers_itself_is_refused_and_so_is_a_model_in_its_own_tiers(load):
    for text in (f"{{a: {{tiers: [{{up_to: 5, model: b}}]}}, b: {TIERED}}}", "{b: {tiers: [{up_to: 5, model: b}]}}"):
        with pytest.raises(SettingsError, match="names b, which has tiers itself; permitted: models without tiers"):
            load(text)


def test_tiers_may_stand_in_a_variable(load):
    models = load("{}", OM_MODELS__SMART__TIERS="[{up_to: 10, model: small}]")

    assert [(tier.up_to, tier.model) for tier in models["smart"].tiers] == [(10, "small")]


@pytest.mark.parametrize(
    ("name", "settings", "provider", "variable"),
    [
        ("gemini-2.5-pro", {}, "gemini", "GEMINI_API_KEY"),
        ("gemini-2.5-pro", {"provider": "gemini", "base_url": "http://here"}, "gemini", ""),
        ("gemini-2.5-pro", {"base_url": "http://here"}, "openai", ""),
        ("mine", {"provider": "gemini", "api_key_env": "MINE"}, "gemini", "MINE"),
        ("gpt-x", {}, "openai", "OPENAI_API_KEY"),
        ("local", {"base_url": "http://here/v1"}, "openai", ""),
        ("extractive", {}, "extractive", ""),
        ("mine", {"provider": "vertex"}, "vertex", ""),
    ],
)
def test_a_provider_and_the_variable_of_its_key_follow_from_settings_and_name(name, settings, provider, variable):
    model = ModelSettings(**settings)

    assert (provider_of(name, model), key_variable(name, model)) == (provider, variable)
