"""What a rewrite lost: every planted loss is found, and no faithful rewrite raises an alarm."""

import re
from pathlib import Path

import pytest
from rewrites import NOTES, PLANTED

from om_api import load_settings
from om_workers.prompts.loss import Check

_PAIRS = (Path(__file__).parents[2] / "data" / "faithful_rewrites.md").read_text("utf-8")
LIMIT = load_settings(None, {}).memory.reflection.max_loss / 2  # above it an answer is asked for again


def pairs():
    for part in re.split(r"^## ", _PAIRS, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        notes, _, rewritten = rest.partition("### rewritten")
        yield title, notes.strip(), rewritten.strip()


def test_a_faithful_rewrite_raises_no_alarm_and_one_loss_of_each_kind_is_found_and_named():
    for title, notes, rewritten in pairs():
        found = Check([notes]).of(rewritten, 1)
        assert found.loss <= LIMIT, (title, found.dropped)
    for kind, (was, instead) in PLANTED.items():
        found = Check([NOTES]).of(NOTES.replace(was, instead), 1)
        assert found.loss > LIMIT, kind
        assert any(was.split(") ")[-1].strip() in told for told in found.dropped), kind


def test_a_rewrite_has_lost_what_it_does_not_say():
    assert Check([NOTES]).of(NOTES, 0).loss == 0
    assert Check([NOTES]).of(NOTES, 0).dropped == ()
    found = Check([NOTES]).of("I'm sorry, I can't help with that.", 1)
    assert found.kept == 0
    assert found.loss >= 0.8
    assert Check(["* Nothing worth noting so far."]).of("* nothing", 1).loss == 0
    reading = "* 🔴 Pattern: asks Clara for figures on 12 Mondays\n  * such as https://example.org/x\n* 🟡 Insight: trust Bram"
    assert Check([f"{NOTES}\n{reading}"]).of(NOTES, 1).loss == 0


def test_a_hard_level_lets_what_matters_little_go_and_old_lines_before_new_ones():
    notes = "\n".join(f"* 🟡 Agent called Customer{chr(65 + n)} about order AB-{n}{n}" for n in range(9)) + f"\n{NOTES}"
    check = Check([notes])
    losses = [check.of(NOTES, level).loss for level in (1, 3, 4)]
    assert losses[0] > LIMIT
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] <= LIMIT
    lines = [f"* 🟡 see https://example.org/{n}" for n in range(10)]
    check, oldest_gone, newest_gone = Check(["\n".join(lines)]), "\n".join(lines[3:]), "\n".join(lines[:7])
    losses = {level: (check.of(oldest_gone, level).loss, check.of(newest_gone, level).loss) for level in (1, 3, 4)}
    assert losses == {1: (0.3, 0.3), 3: (0.09, 0.21), 4: (0.0, 0.09)}


def test_a_loss_weighs_lines_words_and_facts_and_the_worst_is_told_first_and_the_list_is_bounded():
    lines = [f"* 🔴 {word}" for word in ("plums", "figs", "grapes", "pears", "dates", "limes", "apples")]
    assert Check(["\n".join(lines)]).of("\n".join(lines[1:]), 1).loss == 0.1429
    for between, kept in ((1, 1), (2, 0)):
        rewritten = "\n".join(["* figs", *["* later"] * between, "* plums"])
        assert Check(["* 🔴 figs grapes plums quinces"]).of(rewritten, 1).kept == kept, (between, kept)
    for word, instead in (("moving", "moved"), ("invited", "invites"), ("married", "marries")):
        assert Check([f"* 🔴 {word}"]).of(f"* {instead}", 1).loss == 0, (word, instead)
    for word, kept in (("hay", 0), ("ox", 1)):
        assert Check([f"* 🔴 {word}"]).of("* nothing of it", 1).kept == kept, (word, kept)
    for line, rewritten, kept in [
        ("* 🔴 figs for Jonas", "* figs", 0),
        ("* 🔴 figs for Jonas", "* Jonas", 2),  # the line and the name
        ("* 🔴 figs grapes quinces for Jonas", "* Jonas", 1),  # the name, and a third of the line
    ]:  # fmt: skip
        assert Check([line]).of(rewritten, 1).kept == kept, (line, rewritten, kept)
    for order in (1, -1):
        lines = ["* 🟢 a call from Jonas", "* 🔴 travels to Lisbon with Jonas"][::order]
        assert Check(["\n".join(lines)]).of("* a call\n* travels to Lisbon", 1).loss == 0.2, order
    assert Check(["* 🟡 Plums were picked"]).of("* fruit was picked", 1).loss == 0
    assert Check(["* 🔴 Clara called\n* 🟢 a letter to Clara"]).of("* she called\n* a letter", 1).loss == 0.2
    assert Check(["* 🔴 the plums are ripe\n  * picked at dawn"]).of("* the plums are ripe", 1).loss == 0
    assert Check(["* 🟡 paid on 12 May 2024 to Jonas"]).of("* 🟡 paid to Jonas", 1).loss == 0.08
    lines = [f"* 🟡 Agent called Customer{n} at https://example.org/{n} " + "at length " * 90 for n in range(200)]
    dropped = Check([NOTES, *lines]).of("* nothing of it", 1).dropped
    assert dropped[0].startswith(("🔴 line", "✅ line"))
    assert len(dropped) <= 40
    assert max(map(len, dropped)) < 500


def test_check_gives_loss_1_to_an_answer_that_supports_nearly_no_line_whatever_its_mark_and_script():
    colours = ["red", "green", "blue", "white", "black", "brown", "grey", "pink", "gold", "teal", "cyan", "lilac"]
    bought = ["咖啡", "红茶", "面条", "米饭", "苹果", "香蕉", "足球", "篮球", "音乐", "电影"]
    notes = {
        "* 🟡 User prefers {} tiles": colours,
        "* 🟢 User prefers {} tiles": colours,
        "* 🔴 用户决定购买{}": bought,
        "* 🔴 用户说自己非常喜欢{}，而且每个周末都会去": bought,
        "* 🟡 उपयोगकर्ता को {} पसंद है": ["सेब", "केला", "आम", "अंगूर", "अनार", "पपीता", "लीची"],
        "* 🟡 ผู้ใช้ชอบ{}": ["กาแฟ", "ชาเขียว", "ก๋วยเตี๋ยว", "แอปเปิล", "กล้วย", "ฟุตบอล", "ดนตรี"],
    }
    for frame, things in notes.items():
        lines = [frame.format(thing) for thing in things]
        for answer in ("* 🟡 OK", "* 🟡 Ich kann dabei leider nicht helfen.", "\u200b", lines[0]):
            for level, room in ((0, 1.0), (1, 0.9)):
                assert Check(lines, room).of(answer, level).loss == 1, (frame, answer, level)
        assert Check(lines).of("\n".join(lines), 0).loss == 0
        assert Check(lines).of("\n".join(lines[: len(lines) // 2]), 4).loss < 1, frame  # asked to leave out


def test_check_lets_two_thirds_of_ordinary_lines_go_and_no_more():
    lines = ["* 🔴 User lives in a city", *(f"* 🟡 User likes {thing}" for thing in ["plums", "figs", "limes"])]
    for kept, loss in ((4, 0), (3, 0.075), (2, 0.15), (1, 0.225)):
        assert Check(lines).of("\n".join(lines[:kept]), 1).loss == loss, kept
    decomposed = "* 🟡 scha\u0308tzt bla\u0308ulich glu\u0308hende bo\u0308den"
    assert Check([decomposed]).of("* schätzt bläulich glühende böden", 0).loss == 0


@pytest.mark.timeout(20)
def test_thousands_of_lines_and_long_paths_are_checked_in_seconds():
    """Catches a comparison of each line with every other: it would take minutes, for each of a reflection's answers."""
    notes = "\n".join(f"* 🔴 apple pie {n}" for n in range(3_000))
    assert Check([notes]).of(notes, 1).loss == 0
    # Catches a search for each of its ends.
    notes = "\n".join(f"* 🟡 {'a/' * 140}f{n}" for n in range(200))
    assert Check([notes]).of(f"* {'a/' * 30_000}", 1).loss > 0
    for text in ("🔴" * 2000, "* 🔴 " + "a/" * 9_000, "Dec 4-" * 2_000, "`" * 9_999, "1,111" * 3_000, "A_" * 3_000):
        assert 0 <= Check([text]).of(text[:100], 1).loss <= 1, text
