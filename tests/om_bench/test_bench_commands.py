"""Benchmarks run, and measure what they say."""

import pytest
from benches import PLANTED
from click.testing import CliRunner

from om_bench.__main__ import bench
from om_bench.harness.pipeline import RECOMMENDED
from om_bench.harness.stems import stems, telling
from om_bench.memory.recall import PlantedFact, measure, recalled
from om_bench.speed.full import MESSAGES, OBSERVATIONS, THREAD, Full
from om_bench.speed.stand import Figure, beside, side_by_side, stand, us

MARKS = {"speed": "<!-- speed -->\nfigures\n<!-- /speed -->\n", "cost": "<!-- cost -->\nfigures\n<!-- /cost -->\n"}


def test_what_is_measured_in_part_does_not_replace_a_page(tmp_path):
    for words in [("speed", "--only", "get_context"), ("cost", "--sweep")]:
        page = tmp_path / "page.md"
        page.write_text(MARKS[words[0]])
        done = CliRunner().invoke(bench, [*words, "--write", str(page)])

        assert done.exit_code == 2, words
        assert f"leave out {words[1]}" in done.stderr, words
        assert page.read_text() == MARKS[words[0]], words


def test_words_of_one_stem_number_or_month_are_the_same():
    assert stems("adopting two dogs in September") == [*stems("adopted"), "2", "dog", None, "sep"]
    assert telling("It is the") == frozenset()


def test_case_and_script_decide_what_is_a_word():
    for text, seen in [
        ("We may call on May 7 at 9 AM", ["call", "may", "7", "9", "am"]),
        ("I am with us and it", []),
        ("The US office, in IT", ["us", "offic", "it"]),
        ("Grüße aus Zürich", ["grüße", "aus", "zürich"]),
        ("裕子さんは in 金", ["裕子", "子さ", "さん", "んは", "金"]),
        ("at five o'clock", ["5", "o", "clock"]),
    ]:
        assert [stem for stem in stems(text) if stem] == seen, (text, seen)


@pytest.mark.nightly
def test_nine_of_ten_facts_from_one_thread_are_read_in_another_weeks_later():
    for found in measure(*PLANTED, [(), RECOMMENDED]):
        assert found.of == 50
        assert found.recalled >= 45, found.missed


def test_a_fact_is_recalled_by_all_of_its_keys_in_one_line_or_two():
    fact = PlantedFact("f", ("Graz", "40"))

    assert recalled("we ship to Graz\nfor 40 euros", [fact]) == [fact]
    assert recalled("we ship to Graz\nand so on\nfor 40 euros", [fact]) == []


def test_a_full_memory_has_40k_tokens_of_observations_and_30k_raw_and_turns_come_and_go(private_server_url):
    with stand(private_server_url) as made:
        full = Full(made, "reader")
        full.build()
        held, raw = made.om.stats("reader"), [_raw(made)]
        for _ in range(3):
            full.turn()
        raw.append(_raw(made))
        full.turn_back()
        raw.append(_raw(made))

    assert (held.observation_tokens, held.observations) == (OBSERVATIONS * 798, OBSERVATIONS)
    assert held.message_tokens + held.chunk_tokens == MESSAGES * 99
    assert held.chunks == held.ready_chunks > 0
    assert raw == [MESSAGES, MESSAGES + 3, MESSAGES]


def _raw(stand):
    return sum(block.kind == "message" for block in stand.om.get_context(THREAD, "reader").blocks)


def test_ours_is_told_beside_its_reference_by_their_medians():
    figure = beside("a push", [1e-6, 9e-6, 3e-6], [1e-6, 2e-6, 1.5e-6], reach=2, what="a bare ZADD")

    assert (figure.ours, figure.reference, figure.value) == ("3.0 us", "1.5 us: a bare ZADD", pytest.approx(2))
    assert us(0.0123) == "12,300.0 us"


def test_a_target_is_met_by_what_just_reaches_it():
    for reach, at_least, met in [(2, False, True), (1.9, False, False), (2, True, True), (2.1, True, False)]:
        assert Figure(work="w", ours="", reference="", value=2, reach=reach, at_least=at_least).met is met, (
            reach,
            at_least,
        )


def test_both_are_timed_in_turns():
    """So that what slows the machine down for a while slows both."""
    order = []
    ours, reference = side_by_side(lambda: order.append("ours"), lambda: order.append("reference"), 3)

    assert order == ["ours", "reference"] * 3
    assert (len(ours), len(reference)) == (3, 3)
