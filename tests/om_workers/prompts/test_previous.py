"""Which of the earlier notes are shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.tokens import estimate
from om_workers.prompts.lines import is_important
from om_workers.prompts.previous import trim_previous


def words(text):
    return len(text.split())


def note(text, mark="🟡"):
    return f"* {mark} {text}"  # three words


def test_what_fits_is_not_touched():
    assert trim_previous("a\n\nb", 2, words) == "a\n\nb"


@pytest.mark.parametrize("tokens", [0, -1])
def test_a_budget_of_nothing_shows_nothing(tokens):
    assert trim_previous("a b c", tokens, words) == ""


def test_if_nothing_fits_only_the_marker_is_shown():
    assert trim_previous("\n".join(note(f"n{n}") for n in range(9)), 2, words) == "[9 observations truncated here]"


def test_the_newest_lines_stay():
    text = "\n".join(note(f"n{n}") for n in range(9))

    assert trim_previous(text, 12, words) == f"[7 observations truncated here]\n{note('n7')}\n{note('n8')}"


@pytest.mark.parametrize("mark", ["🔴", "✅"])
def test_an_important_line_of_the_head_stays_with_a_marker_on_either_side(mark):
    notes = [note(f"n{n}") for n in range(12)]
    notes[4] = note("n4", mark)
    trimmed = trim_previous("\n".join(notes), 15, words)

    assert trimmed.split("\n") == [
        "[4 observations truncated here]",
        notes[4],
        "[6 observations truncated here]",
        notes[11],
    ]


def test_a_single_hidden_line_is_shown_instead_of_a_marker():
    notes = [note(f"n{n}") for n in range(8)]
    notes[5] = note("n5", "🔴")

    assert trim_previous("\n".join(notes), 13, words).split("\n") == ["[5 observations truncated here]", *notes[5:]]


def test_important_lines_go_before_a_longer_tail_but_are_never_more_than_the_tail():
    notes = [note(f"n{n}", "🔴" if n < 10 else "🟡") for n in range(20)]
    kept = [line for line in trim_previous("\n".join(notes), 26, words).split("\n") if line.startswith("*")]

    assert kept == [*notes[7:10], *notes[17:]]


@pytest.mark.parametrize("middle", [[note("n1")], [note("n1"), note("n2 and more")]])
def test_the_newest_line_stays_also_where_lines_together_are_more_than_their_sum(middle):
    """Each line of three words counts as one, but two of them as three: what is chosen by the sum may not fit."""
    notes = [note("n0"), *middle, note("n3")]
    trimmed = trim_previous("\n".join(notes), 3, lambda text: words(text) // 2)

    assert trimmed == f"[{len(notes) - 1} observations truncated here]\n{notes[-1]}"


@given(
    st.lists(st.tuples(st.sampled_from("🔴✅🟡🟢"), st.integers(1, 12)), min_size=1, max_size=40),
    st.integers(1, 200),
    st.sampled_from([words, estimate, len]),
)
def test_a_trimmed_text_fits_and_keeps_its_promises(made, tokens, count):
    notes = [note(f"n{n} " + "w " * size, mark).rstrip() for n, (mark, size) in enumerate(made)]
    trimmed = trim_previous("\n".join(notes), tokens, count)
    shown = trimmed.split("\n")
    kept = [notes.index(line) for line in shown if line in notes]
    tail = next((n for n in range(len(notes)) if kept[-n - 1 : len(kept) - n] != [len(notes) - n - 1]), len(notes))

    assert kept == sorted(kept)
    assert count(trimmed) <= tokens or trimmed == f"[{len(notes)} observations truncated here]"
    assert sum(is_important(notes[at]) for at in kept[: len(kept) - tail]) <= tail
    assert sum(int(n) for n in re.findall(r"^\[(\d+) observations", trimmed, re.MULTILINE)) == len(notes) - len(kept)
    assert "[1 observations" not in trimmed or len(notes) == 1


@pytest.mark.timeout(30)
def test_thousands_of_lines_are_trimmed_without_hanging():
    text = "\n".join(note(f"n{n}", "🔴") for n in range(20_000))

    assert estimate(trim_previous(text, 2000, estimate)) <= 2000
