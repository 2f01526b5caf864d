import pytest

from om_workers.prompts.parse import parse_observer, parse_reflector


def observations(*lines):
    return "\n".join(["<observations>", *lines, "</observations>"])


@pytest.mark.parametrize(
    ("lines", "priority"),
    [
        (["* 🟢 a"], 1),
        (["* 🟢 a", "* 🟡 b"], 3),
        (["* 🟡 a", "  * ✅ b"], 4),
        (["* ✅ a", "- 🔴 (09:15) b"], 5),
        (["* (09:15) 🔴 b"], 5),
        (["🔴 without a bullet"], 5),
        (["* 🟢 User likes 🔴 lamps"], 1),
        (["* plain"], 3),
    ],
)
def test_the_priority_is_the_highest_of_the_lines_own_marks(lines, priority):
    assert parse_observer(observations(*lines)).priority == priority


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("* 🟡 Pattern: a", ("a",)),
        ("- Pattern: a", ("a",)),
        ("* 🔴 (09:15) **Pattern:** a", ("a",)),
        ("* 🟡 Pattern: a <thread b", ("a &lt;thread b",)),
        ("* 🟡 The pattern: a", ()),
        ("* 🟡 Pattern:", ()),
    ],
)
def test_patterns_are_read_from_their_own_lines(line, found):
    assert parse_reflector(observations("* 🔴 x", line)).patterns == found


def test_insights_are_lines_of_their_own_kind():
    reflected = parse_reflector(observations("* 🔴 x", "* 🟡 **Insight:** ships on Fridays", "* Pattern: asks twice"))

    assert (reflected.insights, reflected.patterns) == (("ships on Fridays",), ("asks twice",))


def test_a_long_line_is_cut_with_a_note():
    observed = parse_observer(observations("* 🔴 " + "x" * 71_000, "* 🟡 b"))

    assert observed.text == "* 🔴 " + "x" * 9_996 + " ... [truncated]\n* 🟡 b"
    assert observed.priority == 5
