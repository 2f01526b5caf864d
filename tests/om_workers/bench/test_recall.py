"""The gate: what the model-free memory keeps of our own conversation, on a store of its own. No figure depends on time."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

import msgspec
import pytest

from om_api.tokens import counter
from om_api.values import parse_member, to_ms
from om_workers.bench.pipeline import pipeline
from om_workers.bench.quality import online
from om_workers.bench.recall import Fact, across, recalled
from om_workers.bench.recommended import RECOMMENDED
from om_workers.bench.talks import Talk

DATA = Path(__file__).parents[2] / "data"


def told(name, thread):
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [parse_member(line.encode(), thread, "bench", to_ms(json.loads(line)["timestamp"])) for line in lines]


@pytest.fixture(scope="module")
def facts():
    return msgspec.json.decode((DATA / "planted_facts.json").read_bytes(), type=list[Fact])


def test_nine_of_ten_facts_told_in_one_thread_are_read_in_another_weeks_later(facts):
    with pipeline(None, {}) as running:
        text = across(running, told("planted", "told"), told("planted_holdout", "after"))

    assert len(recalled(text, facts)) >= 0.9 * len(facts)


def test_a_fact_is_recalled_by_all_of_its_keys_in_one_line_or_two():
    fact = Fact("f", ("Graz", "40"))

    assert recalled("we ship to Graz\nfor 40 euros", [fact]) == [fact]
    assert recalled("we ship to Graz\nand so on\nfor 40 euros", [fact]) == []


def test_a_prompt_cache_serves_almost_all_of_what_is_read_call_after_call():
    talk = Talk("planted", tuple(told("planted", "told")), ())
    found = online([talk], counter(), ("message_threshold=3000", *RECOMMENDED))

    assert mean(found.prefix_share) >= 0.97
    assert mean(found.phi) <= 1.4
    assert mean(found.window_phi) > 5 * mean(found.phi)
    assert 5 <= mean(found.compression) <= 40
