"""The page of costs names what the code counts, with the code's numbers."""

from pathlib import Path

import pytest
import yaml

from om_api.billing import costs
from om_api.billing.budgets import DAYS
from om_api.client.remembered import context_usage
from om_api.settings import load_settings
from om_api.store.fleet.spending import KEPT_S
from om_bench.harness.pipeline import THRIFTY
from om_workers.calls.ledger import _LONGEST_WAIT_S

PAGE = (Path(__file__).parents[2] / "docs" / "costs.md").read_text()


def test_the_page_names_everything_that_is_counted_of_a_call():
    fields = set(costs.CostLine.__struct_fields__) - {"day", "model", "purpose"}

    assert {field for field in fields if f"| `{field}` |" not in PAGE} == set()


@pytest.mark.parametrize("baseline", [costs.UNCACHED, costs.CACHED])
def test_the_page_names_both_baselines_as_the_code_does(baseline):
    assert f"| {baseline} |" in PAGE


def test_the_page_has_the_codes_numbers():
    assert f"{DAYS} days" in PAGE
    assert KEPT_S == DAYS * 86_400
    assert f"every {context_usage.TELL_S:g} s" in PAGE
    assert _LONGEST_WAIT_S <= 600  # "every few minutes"


def test_the_examples_of_the_page_are_settings_that_can_be_in_force(tmp_path):
    blocks = [part.split("```")[0] for part in PAGE.split("```yaml\n")[1:]]
    for number, block in enumerate(blocks):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "observational-memory.yaml").write_text(block)
        loaded = load_settings(folder, {})

        assert yaml.safe_load(block).keys() <= {"models", "observational_memory"}
        assert loaded.problems == ()


def test_the_settings_that_cost_least_are_those_that_are_measured():
    block = PAGE.split("## Settings that cost least")[1].split("```yaml\n")[1].split("```")[0]
    stated = yaml.safe_load(block)["observational_memory"]
    groups = {
        f"{group}.{name}={value}"
        for group in ("reflection", "prompt_cache")
        for name, value in stated.pop(group).items()
    }

    assert {f"{name}={value}" for name, value in stated.items() if "model" not in name} | groups == set(THRIFTY)
