"""Every rule of docs/prompts.md stands in every variant of the prompts, and every variant asks for what is parsed."""

import re
from pathlib import Path
from typing import get_args

import pytest

from om_api.domain.messages import Message
from om_api.domain.tokens import estimate
from om_api.settings.memory_settings import PromptVariant
from om_workers.prompts.library import guidance, prompt, variants
from om_workers.prompts.parse import parse_observer, parse_reflector
from om_workers.prompts.render import observer_request, reflector_request

PAGE = (Path(__file__).parents[3] / "docs" / "prompts.md").read_text("utf-8")
RULES = {"1": 24, "2": 9, "3": 11, "4": 6, "5": 13, "6": 8, "7": 8}  # how many there are in each section
FILES = {"5": "reflector", "7": "reflector"}
VARIANTS = ["default", "condensed", "legacy"]
SETTINGS = {"instruction": None, "timezone": "UTC", "temperature": 0.0, "timeout": 60.0}
each_variant = pytest.mark.parametrize("variant", VARIANTS)


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def table():
    """Each rule of the page by its number: what it says, and its quote of each variant."""
    rows = [cells(line) for line in PAGE.splitlines() if re.match(r"\| \d", line)]
    return {row[0]: (row[1], dict(zip(VARIANTS, (cell.strip("` ") for cell in row[2:]), strict=True))) for row in rows}


def stands(quote, name, variant):
    lines = (line.strip().strip("` ") for line in prompt(name, variant).splitlines())
    return any(line.startswith(quote) for line in lines)


def test_no_rule_is_missing_in_the_table():
    expected = {f"{section}.{number}" for section, most in RULES.items() for number in range(1, most + 1)}

    assert table().keys() == expected
    assert all(says for says, _ in table().values())
    assert len(re.findall(r"^\| \d", PAGE, re.MULTILINE)) == len(expected)


@each_variant
def test_every_rule_stands_in_every_variant(variant):
    quotes = {rule: by_variant[variant] for rule, (_, by_variant) in table().items()}

    assert [rule for rule, quote in quotes.items() if len(quote) < 8] == []
    assert [r for r, quote in quotes.items() if not stands(quote, FILES.get(r[0], "observer"), variant)] == []


def test_the_variants_are_those_of_the_settings_and_of_the_page():
    assert sorted(VARIANTS) == sorted(get_args(PromptVariant)) == list(variants())
    assert all(f"| `{variant}` |" in PAGE for variant in VARIANTS)


@each_variant
@pytest.mark.parametrize(("name", "parse"), [("observer", parse_observer), ("reflector", parse_reflector)])
def test_the_example_of_every_variant_is_read_whole(name, parse, variant):
    system = prompt(name, variant)
    read = parse(system)

    assert all(mark in system for mark in "🔴🟡🟢✅")
    assert read.text.startswith("Date: ")
    assert "* ✅" in read.text
    said = parse_observer(system)
    assert said.current_task.startswith("Primary: ")
    assert said.suggested_response


@pytest.mark.parametrize("name", ["observer", "reflector"])
def test_condensed_takes_less_than_half_of_the_tokens(name):
    assert estimate(prompt(name, "condensed")) < estimate(prompt(name)) / 2


@each_variant
def test_a_request_is_made_of_the_variants_prompts_and_of_the_defaults_where_it_has_none(variant):
    message = Message(role="user", content="hello", at=1)
    observe = observer_request([message], [], previous_tokens=0, count=estimate, variant=variant, **SETTINGS)
    reflect = reflector_request(["* a"], target_tokens=0, level=2, variant=variant, **SETTINGS)

    assert observe.system == prompt("observer", variant)
    assert reflect.system == prompt("reflector", variant)
    assert guidance(2) in reflect.prompt
