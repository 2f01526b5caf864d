"""Which models are to be what, of all agents, and which of their keys are missing."""

from __future__ import annotations

from om_api import load_settings
from om_api.billing import models_in_use

TIERS = "[{up_to: 10, model: gpt-x}, {up_to: 100, model: extractive}]"


def loaded(folder=None, **environ):
    return load_settings(folder, environ)


def test_every_agents_models_are_named_once_with_what_they_are_to_be(tmp_path):
    (tmp_path / "agents" / "ada").mkdir(parents=True)
    (tmp_path / "agents" / "ada" / "memory.yaml").write_text("observational_memory: {observer_model: [m, deepseek]}")
    (tmp_path / "observational-memory.yaml").write_text("observational_memory: {model: m}")
    settings = loaded(tmp_path)

    assert models_in_use.by_role(settings) == [("observer", "m"), ("reflector", "m"), ("observer", "deepseek")]
    assert models_in_use.in_use(settings) == ["m", "deepseek"]


def test_a_model_that_is_made_of_tiers_is_answered_for_by_these():
    settings = loaded(OM_MODEL="m", OM_MODELS__M__TIERS=TIERS)

    assert models_in_use.answering(settings, "m") == ["gpt-x", "extractive"]
    assert models_in_use.in_use(settings) == ["gpt-x", "extractive"]


def test_what_stands_in_the_configuration_has_a_breaker_though_nobody_uses_it():
    found = models_in_use.with_breaker(loaded(OM_MODEL="gpt-4o"))

    assert found[0] == "gpt-4o"
    assert {"deepseek", "gemini-2.5-flash", "extractive"} < set(found)


def test_a_key_that_is_not_set_here_is_named_and_blanks_are_no_key():
    assert models_in_use.missing_key(loaded(), "gpt-4o") == "OPENAI_API_KEY"
    assert models_in_use.missing_key(loaded(OPENAI_API_KEY=" "), "gpt-4o") == "OPENAI_API_KEY"
    assert models_in_use.missing_key(loaded(OPENAI_API_KEY="sk-x"), "gpt-4o") == ""
    assert models_in_use.missing_key(loaded(), "extractive") == ""
