"""Models that make poor Observers or Reflectors are told by their names, and the page lists what doctor warns of."""

from __future__ import annotations

from pathlib import Path

import pytest

from om_api.billing.model_advice import advice, why_not
from om_api.ops.doctor import examine
from om_api.settings import load_settings
from om_api.settings.model_settings import DEFAULT_MODELS

PAGE = (Path(__file__).parents[3] / "docs" / "which-models.md").read_text("utf-8")
NOWHERE = {"OM_REDIS_URL": "redis://127.0.0.1:1/0"}


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
        ("gpt-4o-mini", False, False),
        ("text-embedding-3-small", True, True),
    ],
)
def test_a_model_is_discouraged_in_the_roles_it_fills_badly(name, observer, reflector):
    assert (bool(why_not("observer", [name])), bool(why_not("reflector", [name]))) == (observer, reflector)


def test_the_provider_s_name_for_a_model_counts_as_well():
    assert why_not("observer", ["mine", "deepseek-reasoner"]) == why_not("observer", ["deepseek-reasoner"]) != ""


def test_no_model_of_the_defaults_is_discouraged():
    names = [(name, fields.get("model", "")) for name, fields in DEFAULT_MODELS.items()]

    assert [name for name in names if why_not("observer", name) or why_not("reflector", name)] == []


def models(**environ):
    checkup = examine(load_settings(environ={**NOWHERE, **environ}))
    return [finding for finding in checkup.findings if finding.about == "models" and finding.trouble]


def test_doctor_warns_of_a_discouraged_model_in_its_role_with_the_reason_and_what_to_do():
    (warned,) = models(OM_OBSERVER_MODEL="deepseek-reasoner", OM_REFLECTOR_MODEL="deepseek-reasoner")

    assert warned.level == "warning"
    assert warned.says.startswith("deepseek-reasoner as Observer: it thinks before it answers")
    assert "observer_model" in warned.do
    assert models() == []


@pytest.mark.parametrize("entry", advice(), ids=lambda entry: entry.patterns[0])
def test_the_page_lists_every_discouraged_pattern_with_its_reason(entry):
    row = next(line for line in PAGE.splitlines() if f"`{entry.patterns[0]}`" in line)

    assert all(f"`{pattern}`" in row for pattern in entry.patterns)
    assert all(role.capitalize() in row for role in entry.roles)
    assert entry.reason in row
