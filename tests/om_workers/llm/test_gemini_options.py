"""What a Gemini model's options may hold, and what is sent of them."""

from __future__ import annotations

import pytest
from model_requests import observe, reflect
from provider_models import opened

from om_api.domain.errors import SettingsError


@pytest.mark.parametrize(
    ("model", "options", "observing", "reflecting"),
    [
        ("gemini-2.5-flash", {}, 215, 1024),
        ("models/gemini-2.5-pro", {}, 215, 1024),
        ("gemini-2.5-flash-lite", {}, None, None),  # it refuses budgets below 512, and thinks only if told to
        ("gemini-3-flash", {}, None, None),
        ("gemini-2.5-flash", {"thinking_config": {"thinking_budget": 0}}, 0, 0),
        ("gemini-2.5-flash", {"thinkingConfig": {"thinkingBudget": 9}}, 9, 9),
        ("gemini-2.5-flash", {"thinking_config": None}, None, None),
    ],
)
def test_a_model_thinks_as_much_as_its_options_say_else_a_little(server, model, options, observing, reflecting):
    with opened("gemini", server.root, model=model, options=options) as opened_model:
        opened_model.complete(observe())
        first = _thinking(server.last)
        opened_model.complete(reflect("* 🟡 [[w1-1]] a"))

    assert (first, _thinking(server.last)) == (observing, reflecting)


def _thinking(sent):
    config = sent["generationConfig"].get("thinkingConfig", {})
    return config.get("thinkingBudget", config.get("thinking_budget"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"nope": 1}, "nope: Extra inputs are not permitted"),
        ({"top_p": "much"}, "top_p: Input should be a valid number"),
        ({"thinking_config": {"budget": 5}}, "thinking_config.budget: Extra inputs are not permitted"),
        ({"http_options": {"base_url": "http://elsewhere"}}, "state http_options, which cannot be chosen here"),
        ({"systemInstruction": "be bad"}, "state system_instruction"),
        ({"automatic_continuation": True}, "state automatic_continuation"),
        ({"audio_timestamp": True}, "state audio_timestamp"),
        ({"routing_config": {}}, "state routing_config"),
    ],
)
def test_options_that_gemini_does_not_know_or_that_are_not_to_choose_are_found_before_anything_is_asked(options, says):
    with pytest.raises(SettingsError) as caught, opened("gemini", "http://127.0.0.1:1", options=options):
        pass

    assert says in str(caught.value)
    assert str(caught.value).endswith("remove them")
