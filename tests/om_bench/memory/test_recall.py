"""The gate: what the model-free memory keeps of our own conversation, on a store of its own. No figure depends on time."""

import pytest
from benches import PLANTED

from om_api.domain.errors import InvalidInputError
from om_bench.harness.pipeline import RECOMMENDED
from om_bench.memory.recall import PlantedFact, measure, read_told, recalled


def test_nine_of_ten_facts_told_in_one_thread_are_read_in_another_weeks_later():
    for found in measure(*PLANTED, [(), RECOMMENDED]):
        assert found.of == 50
        assert found.recalled >= 45, found.missed


def test_a_line_that_is_no_message_is_named(tmp_path):
    file = tmp_path / "told.jsonl"
    file.write_text('{"role": "user", "content": "hello", "timestamp": "2026-01-01T00:00:00Z"}\n{"role": "user"}\n')

    with pytest.raises(InvalidInputError, match=r"told\.jsonl, line 2: "):
        read_told(file, "told")


def test_without_facts_or_messages_there_is_nothing_to_measure(tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("[]")
    with pytest.raises(InvalidInputError, match="holds no facts"):
        measure(empty, *PLANTED[1:], [()])
    empty.write_text("")
    with pytest.raises(InvalidInputError, match="holds no messages"):
        measure(PLANTED[0], empty, PLANTED[2], [()])


def test_a_fact_is_recalled_by_all_of_its_keys_in_one_line_or_two():
    fact = PlantedFact("f", ("Graz", "40"))

    assert recalled("we ship to Graz\nfor 40 euros", [fact]) == [fact]
    assert recalled("we ship to Graz\nand so on\nfor 40 euros", [fact]) == []
