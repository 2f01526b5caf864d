"""Which models are to be what, of all agents, and which of their keys are missing.

Models that make poor Observers or Reflectors are told by their names, and the page lists what doctor warns of.
"""

from pathlib import Path

import pytest

from om_api import load_settings
from om_api.billing import models
from om_api.ops.doctor import examine
from om_api.settings.model_settings import DEFAULT_MODELS

PAGE = (Path(__file__).parents[3] / "docs" / "which-models.md").read_text("utf-8")
NOWHERE = {"OM_REDIS_URL": "redis://127.0.0.1:1/0"}
TIERS = "[{up_to: 10, model: gpt-x}, {up_to: 100, model: extractive}]"


def loaded(folder=None, **environ):
    return load_settings(folder, environ)


def test_every_agents_models_are_named_once_with_what_they_are_to_be(tmp_path):
    (tmp_path / "agents" / "ada").mkdir(parents=True)
    (tmp_path / "agents" / "ada" / "memory.yaml").write_text("observational_memory: {observer_model: [m, deepseek]}")
    (tmp_path / "observational-memory.yaml").write_text("observational_memory: {model: m}")
    settings = loaded(tmp_path)

    assert models.by_role(settings) == [("observer", "m"), ("reflector", "m"), ("observer", "deepseek")]
    assert models.in_use(settings) == ["m", "deepseek"]


def test_a_model_that_is_made_of_tiers_is_answered_for_by_these():
    settings = loaded(OM_MODEL="m", OM_MODELS__M__TIERS=TIERS)

    assert models.answering(settings, "m") == ["gpt-x", "extractive"]
    assert models.in_use(settings) == ["gpt-x", "extractive"]


def test_what_stands_in_the_configuration_has_a_breaker_though_nobody_uses_it():
    found = models.with_breaker(loaded(OM_MODEL="gpt-4o"))

    assert found[0] == "gpt-4o"
    assert {"deepseek", "gemini-2.5-flash", "extractive"} < set(found)


def test_a_key_that_is_not_set_here_is_named_and_blanks_are_no_key():
    assert models.missing_key(loaded(), "gpt-4o") == "OPENAI_API_KEY"
    assert models.missing_key(loaded(OPENAI_API_KEY=" "), "gpt-4o") == "OPENAI_API_KEY"
    assert models.missing_key(loaded(OPENAI_API_KEY="sk-x"), "gpt-4o") == ""
    assert models.missing_key(loaded(), "extractive") == ""


@pytest.mark.parametrize(
    ("name", "observer", "reflector"),
    [
        ("claude-sonnet-4-5-20250929", True, True),
        ("anthropic/claude-haiku-4.5", True, True),
        ("claude-opus-4-6", False, False),
        ("gemini-1.5-flash", True, True),
        ("models/gemini-2.0-flash-001", True, True),
        ("gemini-2.5-flash", False, False),
        ("gemini-2.5-flash-image", True, True),
        ("deepseek-reasoner", True, False),
        ("DeepSeek-R1-0528", True, False),
        ("deepseek-chat", False, False),
        ("qwen3-235b-a22b-thinking-2507", True, False),
        ("qwen3-32b", False, False),
        ("o3-mini", True, False),
        ("openai/o1", True, False),
        ("glm-4.7", False, False),
        ("gpt-4o", True, True),
        ("openai/gpt-4o-2024-11-20", True, True),
        ("chatgpt-4o-latest", True, True),
        ("gpt-4o-mini", False, False),
        ("gpt-4o-mini-2024-07-18", False, False),
        ("gpt-4.1", False, False),
        ("gpt-4", False, False),
        ("text-embedding-3-small", True, True),
    ],
)
def test_a_model_is_discouraged_in_the_roles_it_fills_badly(name, observer, reflector):
    assert (bool(models.why_not("observer", [name])), bool(models.why_not("reflector", [name]))) == (
        observer,
        reflector,
    )


def test_the_provider_s_name_for_a_model_counts_as_well():
    assert (
        models.why_not("observer", ["mine", "deepseek-reasoner"])
        == models.why_not("observer", ["deepseek-reasoner"])
        != ""
    )


def test_no_model_of_the_defaults_is_discouraged():
    names = [(name, fields.get("model", "")) for name, fields in DEFAULT_MODELS.items()]

    assert [name for name in names if models.why_not("observer", name) or models.why_not("reflector", name)] == []


def warnings(**environ):
    checkup = examine(load_settings(environ={**NOWHERE, **environ}))
    return [finding for finding in checkup.findings if finding.about == "models" and finding.trouble]


def test_doctor_warns_of_a_discouraged_model_in_its_role_with_the_reason_and_what_to_do():
    (warned,) = warnings(OM_OBSERVER_MODEL="deepseek-reasoner", OM_REFLECTOR_MODEL="deepseek-reasoner")

    assert warned.level == "warning"
    assert warned.says.startswith("deepseek-reasoner as Observer: it thinks before it answers")
    assert "observer_model" in warned.do
    assert warnings() == []


@pytest.mark.parametrize("entry", models.advice(), ids=lambda entry: entry.patterns[0])
def test_the_page_lists_every_discouraged_pattern_with_its_reason(entry):
    row = next(line for line in PAGE.splitlines() if f"`{entry.patterns[0]}`" in line)

    assert all(f"`{pattern}`" in row for pattern in entry.patterns)
    assert all(role.capitalize() in row for role in entry.roles)
    assert entry.reason in row
