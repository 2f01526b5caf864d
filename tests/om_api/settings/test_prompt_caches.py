"""What is known of providers' prompt caches, by the names of models."""

import pytest

from om_api.settings.prompt_caches import USUAL, rules_of, table


@pytest.mark.parametrize(
    ("model", "lifetime", "minimum"),
    [
        ("claude-sonnet-4-6", 300, 1024),
        ("anthropic/claude-opus-4-6", 300, 1024),
        ("gpt-5", 300, 1024),
        ("GPT-5.2-chat", 300, 1024),
        ("gemini-2.5-flash", 300, 2048),
        ("gemini-3-pro", 300, 4096),
        ("deepseek-chat", 3600, 64),
    ],
)
def test_a_model_has_the_rules_of_its_provider(model, lifetime, minimum):
    found = rules_of(model)

    assert found is not None
    assert (found.lifetime, found.minimum) == (lifetime, minimum)


@pytest.mark.parametrize("model", ["llama-9", "gpt-5.6-terra", ""])
def test_of_others_nothing_is_known(model):
    assert rules_of(model) is None


def test_nothing_that_is_known_is_forgotten_sooner_than_what_is_not():
    assert all(rules.lifetime >= USUAL.lifetime for rules in table())
    assert all(0 < rules.read < rules.write for rules in table())
