"""What is said of a single model: its own temperature and size, its tiers, its key's variable."""

import pytest

from om_api import load_settings
from om_api.domain.errors import SettingsError
from om_api.settings import ModelSettings
from om_api.settings.model_settings import key_variable, provider_of

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


def test_a_model_is_listed_under_its_own_name_unless_it_says_otherwise(folder):
    folder.base("models: {a: {provider: openai}, b: {provider: openai, model: c}, d: }")
    models = folder.load().models

    assert [models[name].model for name in ("a", "b", "d")] == ["a", "c", "d"]
    assert (models["d"].provider, models["deepseek"].model) == ("", "deepseek-chat")


def test_an_entry_replaces_the_built_in_one_so_that_no_key_goes_elsewhere(folder):
    folder.base("models: {deepseek: {base_url: 'http://localhost:8000/v1'}}")
    deepseek = folder.load().models["deepseek"]

    assert (deepseek.provider, deepseek.model, deepseek.api_key_env) == ("openai", "deepseek", None)


def test_limits_are_kept_and_null_is_none(folder):
    folder.base(
        "models: {a: {provider: openai, limits: {requests_per_minute: 60, concurrency: null}}, b: {limits: null}}"
    )
    models = folder.load().models

    assert models["a"].limits == {"requests_per_minute": 60, "concurrency": None}
    assert models["b"].limits is None


def test_prices_and_options_are_kept(folder):
    folder.base("models: {a: {provider: openai, prices: {input: 1, cached: 0.1, output: 2.5}, options: {top_p: 0.9}}}")
    model = folder.load().models["a"]

    assert (model.prices, model.options) == ({"input": 1.0, "cached": 0.1, "output": 2.5}, {"top_p": 0.9})


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("api_key: sk-hush", "api_key_env"),
        ("options: {headers: {Authorization: sk-hush}}", "api_key_env"),
        ("api_key_env: sk-hush", "api_key_env is not usable"),
        ("base_url: 'https://me:sk-hush@host/v1'", "base_url is not usable"),
        ("base_url: localhost", "http:// or https://"),
        ("prices: {input: 1}", "input, output"),
        ("prices: {input: 1, output: -1}", "0 to 1,000,000"),
        ("prices: {}", "input, output"),
        ("prices: {input: 1, output: 1, thought: 1}", "input, output"),
        ("limits: {requests_per_minute: 0}", "1 to 1,000,000,000 each"),
        ("limits: {requests_per_minute: '60'}", "1 to 1,000,000,000 each"),
        ("limits: {requests_per_hour: 60}", "requests_per_minute, tokens_per_minute and concurrency"),
        ("provider: 5", "models.x.provider"),
    ],
)
def test_a_model_that_cannot_be_is_refused_without_showing_secrets(folder, entry, what):
    file = folder.base(f"models: {{x: {{{entry}}}}}")
    refusal = folder.refused()

    assert refusal.startswith(f"{file}, line 1: models.x")
    assert what in refusal
    assert "hush" not in refusal
