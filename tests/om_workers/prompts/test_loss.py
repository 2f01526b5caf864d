"""What a rewrite lost: every planted loss is found, and no faithful rewrite raises an alarm."""

import re
from pathlib import Path

import pytest

from om_api import load_settings
from om_workers.llm.base import Request
from om_workers.llm.extractive import Extractive
from om_workers.prompts.loss import Check
from om_workers.prompts.parse import parse_reflector

_PAIRS = (Path(__file__).parents[2] / "data" / "faithful_rewrites.md").read_text("utf-8")
LIMIT = load_settings(None, {}).memory.reflection.max_loss
NOTES = """Date: Mar 6, 2026
* 🔴 (19:02) User travels to Lisbon with Jonas by train
* 🔴 (19:05) The budget is 600 euros
* 🔴 (19:10) Departure is on May 15, 2026
* 🔴 (19:11) Tickets are at https://rail.example/t/88
* 🔴 (19:12) The packing list is in ~/trips/packing.md
* 🔴 (19:13) The reservation is LX-88213
* 🔴 (19:20) User never flies because of the climate
* ✅ (19:30) Sleeping compartments reserved
* 🟢 (19:40) User yawned"""
PLANTED = {
    "name": ("Jonas", "somebody"),
    "number": ("600 euros", "limited"),
    "date": ("May 15, 2026", "in spring"),
    "url": ("https://rail.example/t/88", "online"),
    "path": ("~/trips/packing.md", "a file"),
    "identifier": ("LX-88213", "made"),
    "🔴": ("* 🔴 (19:20) User never flies because of the climate\n", ""),
    "✅": ("* ✅ (19:30) Sleeping compartments reserved\n", ""),
}


def pairs():
    for part in re.split(r"^## ", _PAIRS, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        notes, _, rewritten = rest.partition("### rewritten")
        yield pytest.param(notes.strip(), rewritten.strip(), id=title)


@pytest.mark.parametrize(("notes", "rewritten"), [*pairs()])
def test_a_faithful_rewrite_raises_no_alarm(notes, rewritten):
    found = Check([notes]).of(rewritten, 1)

    assert found.loss <= LIMIT, found.dropped


@pytest.mark.parametrize("kind", PLANTED)
def test_one_loss_of_each_kind_is_found_and_named(kind):
    was, instead = PLANTED[kind]
    found = Check([NOTES]).of(NOTES.replace(was, instead), 1)

    assert found.loss > LIMIT
    assert any(was.split(") ")[-1].strip() in told for told in found.dropped)


def test_the_notes_themselves_have_lost_nothing():
    assert Check([NOTES]).of(NOTES, 0).loss == 0
    assert Check([NOTES]).of(NOTES, 0).dropped == ()


def test_a_rewrite_without_any_fact_has_lost_everything():
    found = Check([NOTES]).of("I'm sorry, I can't help with that.", 1)

    assert found.kept == 0
    assert found.loss >= 0.8


def test_no_notes_can_lose_nothing():
    assert Check(["* Nothing worth noting so far."]).of("* nothing", 1).loss == 0


def test_patterns_and_insights_are_read_out_of_facts_and_no_facts_themselves():
    reading = "* 🔴 Pattern: asks Clara for figures on 12 Mondays\n  * such as https://example.org/x\n* 🟡 Insight: trust Bram"

    assert Check([f"{NOTES}\n{reading}"]).of(NOTES, 1).loss == 0


def test_what_matters_little_may_go_at_a_hard_level():
    notes = "\n".join(f"* 🟡 Agent called Customer{chr(65 + n)} about order AB-{n}{n}" for n in range(9)) + f"\n{NOTES}"
    check = Check([notes])
    losses = [check.of(NOTES, level).loss for level in (1, 3, 4)]

    assert losses[0] > LIMIT
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] <= LIMIT


def test_of_new_lines_a_hard_level_asks_for_more_than_of_old_ones():
    lines = [f"* 🟡 see https://example.org/{n}" for n in range(10)]
    check, oldest_gone, newest_gone = Check(["\n".join(lines)]), "\n".join(lines[3:]), "\n".join(lines[:7])
    losses = {level: (check.of(oldest_gone, level).loss, check.of(newest_gone, level).loss) for level in (1, 3, 4)}

    assert losses == {1: (0.3, 0.3), 3: (0.09, 0.21), 4: (0.0, 0.09)}


def test_the_loss_is_told_to_four_places():
    lines = [f"* 🔴 {word}" for word in ("plums", "figs", "grapes", "pears", "dates", "limes", "apples")]

    assert Check(["\n".join(lines)]).of("\n".join(lines[1:]), 1).loss == 0.1429


@pytest.mark.parametrize(("between", "kept"), [(1, 1), (2, 0)])
def test_an_important_line_may_be_spread_over_three_lines_and_no_more(between, kept):
    rewritten = "\n".join(["* figs", *["* later"] * between, "* plums"])

    assert Check(["* 🔴 figs grapes plums quinces"]).of(rewritten, 1).kept == kept


@pytest.mark.parametrize(("word", "instead"), [("moving", "moved"), ("invited", "invites"), ("married", "marries")])
def test_the_words_of_an_important_line_may_be_inflected(word, instead):
    assert Check([f"* 🔴 {word}"]).of(f"* {instead}", 1).loss == 0


@pytest.mark.parametrize(("word", "kept"), [("hay", 0), ("ox", 1)])
def test_a_word_of_three_letters_must_stay_and_a_shorter_one_may_go(word, kept):
    assert Check([f"* 🔴 {word}"]).of("* nothing of it", 1).kept == kept


@pytest.mark.parametrize(
    ("line", "rewritten", "kept"),
    [
        ("* 🔴 figs for Jonas", "* figs", 0),
        ("* 🔴 figs for Jonas", "* Jonas", 2),  # the line and the name
        ("* 🔴 figs grapes quinces for Jonas", "* Jonas", 1),  # the name, and a third of the line
    ],
)
def test_a_fact_makes_up_for_more_than_another_word_of_its_line_but_not_for_any_number(line, rewritten, kept):
    assert Check([line]).of(rewritten, 1).kept == kept


@pytest.mark.parametrize("order", [1, -1])
def test_a_fact_that_is_told_twice_weighs_as_in_the_line_that_matters_more(order):
    lines = ["* 🟢 a call from Jonas", "* 🔴 travels to Lisbon with Jonas"][::order]

    assert Check(["\n".join(lines)]).of("* a call\n* travels to Lisbon", 1).loss == 0.2


def test_a_word_that_begins_a_sentence_is_a_name_only_if_it_has_its_capital_elsewhere_too():
    assert Check(["* 🟡 Plums were picked"]).of("* fruit was picked", 1).loss == 0
    assert Check(["* 🔴 Clara called\n* 🟢 a letter to Clara"]).of("* she called\n* a letter", 1).loss == 0.2


def test_a_detail_of_an_important_line_may_go():
    assert Check(["* 🔴 the plums are ripe\n  * picked at dawn"]).of("* the plums are ripe", 1).loss == 0


def test_what_matters_must_stay_at_every_level():
    was, instead = PLANTED["🔴"]

    assert Check([NOTES]).of(NOTES.replace(was, instead), 4).loss > LIMIT


def test_a_target_far_below_the_notes_asks_to_leave_things_out():
    notes = "\n".join(f"* 🟡 {word} was called" for word in ("Agent Ada", "Agent Bram", "Agent Clara")) + f"\n{NOTES}"

    assert Check([notes], room=0.2).of(NOTES, 1).loss < Check([notes]).of(NOTES, 1).loss


def test_the_worst_is_told_first_and_the_list_is_bounded():
    lines = [f"* 🟡 Agent called Customer{n} at https://example.org/{n} " + "at length " * 90 for n in range(200)]
    dropped = Check([NOTES, *lines]).of("* nothing of it", 1).dropped

    assert dropped[0].startswith(("🔴 line", "✅ line"))
    assert len(dropped) <= 40
    assert max(map(len, dropped)) < 500


@pytest.mark.parametrize(
    "text", ["🔴" * 2000, "* 🔴 " + "a/" * 20_000, "Dec 4-" * 5_000, "`" * 9_999, "1,111" * 9_000, "A_" * 9_000]
)
def test_nothing_that_notes_may_hold_stops_the_check(text):
    assert 0 <= Check([text]).of(text[:100], 1).loss <= 1


def test_the_extractive_reflector_leaves_out_lines_and_says_so():
    """It cannot take the hint, so that asking again ends by itself; what it lost is stored all the same."""
    notes = "\n".join(NOTES for _ in range(3))
    request = Request(purpose="reflect", system="", prompt="", observations=(notes,), target_tokens=60)
    text = parse_reflector(Extractive().complete(request).text).text

    assert 0 < Check([notes]).of(text, 0).loss <= 1


@pytest.mark.timeout(20)
def test_thousands_of_lines_in_the_same_words_are_checked_in_seconds():
    """Catches a comparison of each line with every other: it would take minutes, for each of a reflection's answers."""
    notes = "\n".join(f"* 🔴 apple pie {n}" for n in range(25_000))

    assert Check([notes]).of(notes, 1).loss == 0


@pytest.mark.timeout(20)
def test_a_path_of_many_folders_is_looked_for_in_seconds():
    """Catches a search for each of its ends."""
    notes = "\n".join(f"* 🟡 {'a/' * 140}f{n}" for n in range(2_000))

    assert Check([notes]).of(f"* {'a/' * 100_000}", 1).loss > 0


def test_a_lost_date_weighs_less_than_another_fact():
    assert Check(["* 🟡 paid on 12 May 2024 to Jonas"]).of("* 🟡 paid to Jonas", 1).loss == 0.08
