"""The gate: what the model-free memory keeps of our own conversation, on a store of its own."""

import pytest
from benches import PLANTED

from om_bench.harness.pipeline import RECOMMENDED
from om_bench.memory.recall import PlantedFact, measure, recalled


@pytest.mark.nightly
def test_nine_of_ten_facts_from_one_thread_are_read_in_another_weeks_later():
    for found in measure(*PLANTED, [(), RECOMMENDED]):
        assert found.of == 50
        assert found.recalled >= 45, found.missed


def test_a_fact_is_recalled_by_all_of_its_keys_in_one_line_or_two():
    fact = PlantedFact("f", ("Graz", "40"))

    assert recalled("we ship to Graz\nfor 40 euros", [fact]) == [fact]
    assert recalled("we ship to Graz\nand so on\nfor 40 euros", [fact]) == []
