"""The catalogue of what was set aside: it names every group, never grows beyond its size, and keeps all else that a text says."""

import random
from datetime import UTC, datetime

import pytest

from om_api.domain.notes.catalogue import INTRO, Catalogued, group_named, says_nothing, written
from om_api.domain.notes.groups import grouped
from om_api.domain.tokens import estimate
from om_api.domain.values import Observation

DAY = 86_400_000
START = int(datetime(2025, 11, 20, 12, tzinfo=UTC).timestamp() * 1000)
EMPTY = Catalogued((), ())


def notes(n, thread="t-1", tokens=300, day=0):
    at = START + day * DAY
    text = f"* 🔴 (09:00) fact {n} of {thread}: the harbour opens at {n} o'clock"
    return Observation(id=f"o-{thread}-{n}", thread_id=thread, text=text, from_=at, to=at, tokens=tokens)


def with_groups(some, before=EMPTY, *, pooled=True):
    return before.and_also(grouped(some, 1_000, UTC), pooled=pooled)


@pytest.mark.parametrize("pooled", [True, False])
def test_a_text_read_again_is_the_same(pooled):
    found = with_groups([notes(n, f"t-{n % 3 if pooled else 0}", day=n) for n in range(9)], pooled=pooled)
    text = found.text()

    assert Catalogued.of(text, pooled=pooled) == found
    assert Catalogued.of(text, pooled=pooled).text() == text
    assert text.startswith(INTRO)


def test_headings_of_a_pool_stand_in_their_threads_sections():
    text = with_groups([notes(1, "t-1"), notes(2, "t-2")]).text().split("\n")

    assert text[1] == '<thread id="t-1">'
    assert text[3] == "</thread>"
    assert text[4] == '<thread id="t-2">'


def test_over_hundreds_of_activations_it_stays_within_its_size_and_counts_every_group():
    dice, found, made = random.Random(11), EMPTY, 0
    for n in range(400):
        some = [
            notes(f"{n}-{k}", f"t-{dice.randrange(4)}", dice.randrange(50, 1_200), n * 3)
            for k in range(dice.randrange(1, 5))
        ]
        made += len(list(grouped(some, 1_000, UTC)))
        found = with_groups(some, Catalogued.of(found.text(), pooled=True)).within(500, estimate)
        assert estimate(written(found.entries)) <= 500
        assert found.groups == made
    levels = {len(entry.name) for entry in found.entries if entry.coarse}
    assert levels
    assert [entry for entry in found.entries if not entry.coarse]


def test_the_oldest_headings_become_months_then_years_then_one_line():
    found = with_groups([notes(n, day=n * 20, tokens=900) for n in range(12)])
    sizes = [250, 120, 60, 45, 1]
    texts = [found.within(most, estimate).text() for most in sizes]

    assert "* November 2025 [2025-11] 1 group" in texts[0].split("\n")
    assert "* May 2026 [2026-05]" in texts[1]
    assert [*filter(says_nothing, texts[3].split("\n"))] == texts[3].split("\n")
    assert texts[-1] == f"{INTRO}\n* Everything older [all] 12 groups"


def test_a_heading_in_between_stays_older_ones_go_first():
    found = with_groups([notes(n, day=n * 20, tokens=900) for n in range(12)]).within(250, estimate)
    left = [entry.line[2:12] for entry in found.entries if not entry.coarse]

    assert left == sorted(left)
    assert max(entry.name for entry in found.entries if entry.coarse) <= left[0]


def test_what_else_a_text_says_stays_line_by_line():
    head = (
        'Date: Mar 1, 2026\n* 🔴 User lives in Graz\n<thread id="t-2">\n* 🟡 a talk\n\n  * detail\n</thread>\n* after'
    )
    found = with_groups([notes(1)], Catalogued.of(head, pooled=True))

    assert found.without_entries() == head
    assert found.text() == f"{head}\n{written(found.entries)}"
    again = with_groups([notes(2)], Catalogued.of(found.text(), pooled=True))
    assert again.without_entries() == head
    assert again.groups == 2


def test_what_somebody_put_among_the_headings_is_kept_too():
    text = with_groups([notes(1)]).text().replace("</thread>", "Date: Mar 1, 2026\n* User never flies\n</thread>")
    found = Catalogued.of(text, pooled=True)

    assert found.groups == 1
    assert found.without_entries() == '<thread id="t-1">\nDate: Mar 1, 2026\n* User never flies\n</thread>'


def test_a_line_of_the_head_that_looks_like_a_heading_is_none():
    forged = "* 2026-03-14 [aaaaaaaa] 9 notes: not one of ours"
    found = with_groups([notes(1)], Catalogued.of(forged, pooled=True)).within(1, estimate)

    assert forged in found.text().split("\n")
    assert found.groups == 1


def test_threads_that_became_one_pool_keep_heads_and_headings():
    own = f"* condensed\n{with_groups([notes(1)], pooled=False).text()}"
    text = f'{INTRO}\n* May 2025 [2025-05] 3 groups\n<thread id="t-1">\n{own}\n</thread>\n<thread id="t-2">\n* other\n</thread>'
    found = Catalogued.of(text, pooled=True)

    assert found.groups == 4
    assert found.without_entries() == '<thread id="t-1">\n* condensed\n</thread>\n<thread id="t-2">\n* other\n</thread>'


@pytest.mark.parametrize("line", [INTRO, "* May 2026 [2026-05] 2 groups", "* 2025 [2025] 1 group"])
def test_lines_of_its_own_say_nothing_of_anybody(line):
    assert says_nothing(line)
    assert not group_named(line)


@pytest.mark.parametrize("line", ["* Ada owns 3 [2025] 1 group", "* May 2025 [2026-05] 2 groups", "* x", ""])
def test_other_lines_may(line):
    assert not says_nothing(line)


def test_notes_that_say_nothing_have_no_heading():
    empty = Observation(id="o", thread_id="t-1", text="Date: Mar 1, 2026", from_=START, to=START, tokens=5)

    assert with_groups([empty]).text() == ""
