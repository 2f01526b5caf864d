import re

import pytest
from transcripts import message

from om_api.domain.errors import SettingsError
from om_api.domain.tokens import estimate
from om_workers.prompts.library import guidance, prompt, variants
from om_workers.prompts.render import observer_request


def observe(*messages, previous=(), previous_tokens=2000, **fields):
    settings = {"instruction": None, "timezone": "UTC", "temperature": 0.3, "timeout": 120.0, "count": estimate}
    return observer_request(messages, previous, previous_tokens=previous_tokens, **settings | fields)


def test_level_0_presses_not_at_all_and_a_level_beyond_the_last_is_the_last():
    assert guidance(0) == ""
    assert guidance(9) == guidance(4)


def test_an_unknown_variant_is_refused_by_what_there_is():
    with pytest.raises(SettingsError, match="default"):
        observe(message("x"), variant="../default")
    assert "default" in variants()


@pytest.mark.parametrize("name", ["observer", "reflector"])
def test_the_prompts_show_the_form_the_parser_reads(name):
    system = prompt(name)

    assert all(mark in system for mark in "🔴🟡🟢✅")
    for tag in ("observations", "current-task", "suggested-response"):
        assert re.search(rf"^<{tag}>\n(.|\n)*?\n</{tag}>$", system, re.MULTILINE)
