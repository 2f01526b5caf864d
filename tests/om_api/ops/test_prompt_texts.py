"""The texts are those that models are asked with."""

from typing import get_args

from om_api.ops.prompt_texts import prompt_texts
from om_api.settings.memory_settings import PromptVariant
from om_workers.prompts.library import prompt, variants


def test_every_text_of_every_variant_is_the_one_that_workers_send():
    found = prompt_texts()

    assert {each.variant for each in found} == set(variants()) == set(get_args(PromptVariant))
    assert [each.text for each in found] == [prompt(each.name, each.variant) for each in found]


def test_what_a_variant_does_not_say_anew_is_the_defaults():
    inherited = {(each.variant, each.name): each.inherited for each in prompt_texts()}

    assert not any(inherited["default", name] for variant, name in inherited if variant == "default")
    assert inherited["condensed", "level_1"]
    assert not inherited["condensed", "observer"]
