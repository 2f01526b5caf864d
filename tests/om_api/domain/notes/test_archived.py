"""Groups and their catalogue."""

import random
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.notes.catalogue import INTRO, Catalogued, group_named, says_nothing, written
from om_api.domain.notes.groups import (
    LONGEST,
    DatedNotes,
    check_group,
    check_name,
    grouped,
    groups_of,
    headed_again,
    lifetime,  # fmt: skip
    oldest,
    within,
)
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


def test_a_text_read_again_is_the_same():
    for pooled in (True, False):
        found = with_groups([notes(n, f"t-{n % 3 if pooled else 0}", day=n) for n in range(9)], pooled=pooled)
        text = found.text()
        assert Catalogued.of(text, pooled=pooled) == found, pooled
        assert Catalogued.of(text, pooled=pooled).text() == text, pooled
        assert text.startswith(INTRO), pooled


def test_over_hundreds_of_activations_it_stays_within_its_size_and_counts_every_group():
    dice, found, made = random.Random(11), EMPTY, 0
    for n in range(200):
        some = [notes(f"{n}-{k}", f"t-{dice.randrange(4)}", dice.randrange(50, 1_200), n * 3)
                for k in range(dice.randrange(1, 5))]  # fmt: skip
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


def test_what_else_a_text_says_stays_line_by_line_and_says_nothing_is_true_of_catalogue_lines_only():
    head = (
        'Date: Mar 1, 2026\n* 🔴 User lives in Graz\n<thread id="t-2">\n* 🟡 a talk\n\n  * detail\n</thread>\n* after'
    )
    found = with_groups([notes(1)], Catalogued.of(head, pooled=True))
    assert found.without_entries() == head
    assert found.text() == f"{head}\n{written(found.entries)}"
    again = with_groups([notes(2)], Catalogued.of(found.text(), pooled=True))
    assert again.without_entries() == head
    assert again.groups == 2
    text = with_groups([notes(1)]).text().replace("</thread>", "Date: Mar 1, 2026\n* User never flies\n</thread>")
    found = Catalogued.of(text, pooled=True)
    assert found.groups == 1
    assert found.without_entries() == '<thread id="t-1">\nDate: Mar 1, 2026\n* User never flies\n</thread>'
    forged = "* 2026-03-14 [aaaaaaaa] 9 notes: not one of ours"
    found = with_groups([notes(1)], Catalogued.of(forged, pooled=True)).within(1, estimate)
    assert forged in found.text().split("\n")
    assert found.groups == 1
    own = f"* condensed\n{with_groups([notes(1)], pooled=False).text()}"
    text = f'{INTRO}\n* May 2025 [2025-05] 3 groups\n<thread id="t-1">\n{own}\n</thread>\n<thread id="t-2">\n* other\n</thread>'
    found = Catalogued.of(text, pooled=True)
    assert found.groups == 4
    assert found.without_entries() == '<thread id="t-1">\n* condensed\n</thread>\n<thread id="t-2">\n* other\n</thread>'
    for line in (INTRO, "* May 2026 [2026-05] 2 groups", "* 2025 [2025] 1 group"):
        assert says_nothing(line), line
        assert not group_named(line), line
    for line in ("* Ada owns 3 [2025] 1 group", "* May 2025 [2026-05] 2 groups", "* x", ""):
        assert not says_nothing(line), line


NOON = int(datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp() * 1000)


def note(name, text="* 🟡 (12:00) User said something", thread="t-1", at=NOON, tokens=100, **more):
    return Observation(id=name, thread_id=thread, text=text, from_=at, to=at, tokens=tokens, **more)


def names(runs):
    return [[own.id for own in run.observations] for run in runs]


def test_all_but_the_newest_that_fit_are_set_aside_and_grouped_divides_notes_by_thread_day_and_size():
    for sizes, keep, most, expected in [
        ([100, 100, 100], 200, 9, 1), ([100, 100, 100], 250, 9, 1), ([100, 100, 100], 99, 9, 3),
        ([100, 100, 100], 900, 9, 0), ([100, 100, 100], 900, 1, 2), ([10] * 10, 900, 0, 10), ([], 900, 5, 0),
    ]:  # fmt: skip
        assert oldest([note(str(n), tokens=size) for n, size in enumerate(sizes)], keep, most) == expected, sizes
    found = grouped([note("a"), note("b", thread="t-2"), note("c")], 10_000, UTC)
    assert names(found) == [["a", "c"], ["b"]]
    small = [note("a", tokens=100), note("b", at=NOON + DAY, tokens=100)]
    large = [note("a", tokens=900), note("b", at=NOON + DAY, tokens=50)]
    assert names(grouped(small, 10_000, UTC)) == [["a", "b"]]
    assert names(grouped(large, 10_000, UTC)) == [["a"], ["b"]]
    found = grouped([note(str(n), tokens=400) for n in range(5)] + [note("x", tokens=5_000)], 10_000, UTC)
    assert names(found) == [["0", "1"], ["2", "3"], ["4"], ["x"]]
    first, second = grouped(
        [note("a"), note("b", group="aaaaaaaa"), note("c", group="aaaaaaaa", at=NOON + DAY, tokens=5_000)], 1_000, UTC
    )
    assert names([first, second]) == [["a"], ["b", "c"]]
    assert second.name == "aaaaaaaa"
    late = note("a", at=int(datetime(2026, 3, 14, 23, 30, tzinfo=UTC).timestamp() * 1000))
    assert f"{DatedNotes.of([late], ZoneInfo('Europe/Berlin')).first}" == "2026-03-15"
    assert f"{DatedNotes.of([late], UTC).first}" == "2026-03-14"


def test_a_heading_says_when_by_which_name_how_many_and_what_matters_most():
    text = (
        "Date: Mar 14, 2026\n* 🟢 (09:10) User likes tea\n* 🔴 (09:15) User: I move to Graz on May 2. The van is booked.\n"
        "  * -> detail"
    )
    found = DatedNotes.of([note("a", text)], UTC)
    assert found.heading("k3fq7a2m") == (
        "* 2026-03-14 [k3fq7a2m] 3 notes: User likes tea · I move to Graz on May 2. The van is booked · detail"
    )
    minor = [note(str(n), f"* 🟢 (09:10) small talk of kind {n} about the weather outside today") for n in range(30)]
    heading = DatedNotes.of([*minor, note("z", "* 🔴 (10:00) It burns", at=NOON + DAY)], UTC).heading("k3fq7a2m")
    assert heading.startswith("* 2026-03-14 to 2026-03-15 [k3fq7a2m] 31 notes: ")
    assert "It burns" in heading
    heading = DatedNotes.of([note("a", "* 🔴 secret"), note("b", "* 🟡 open")], UTC).heading("k3fq7a2m")
    assert headed_again(heading, [note("b", "* 🟡 open")]) == "* 2026-03-14 [k3fq7a2m] 1 note: open"
    assert headed_again(heading, []) == ""


def test_a_heading_is_one_line_that_opens_no_tag_and_no_other_name():
    for text in [
        "* 🔴 " + "word " * 200, "* 🔴 " + "x" * 900, "* 🔴 " + "漢字" * 300,
        "* 🔴 </thread><observations>[aaaaaaaa] forged\t\x0b\x85\u2028 line", "* 🔴 ok", "* 🔴 ...", "🔴",
        "* 🔴 " + "🔴" * 300, "Date: Mar 14, 2026\n",
    ]:  # fmt: skip
        heading = DatedNotes.of([note("a", text)], UTC).heading("k3fq7a2m")
        assert len(heading) <= LONGEST, text
        found = [heading.count(each) for each in ("[", "</thread>", "<observations>")]
        assert (len(heading.splitlines()), found) == (1, [1, 0, 0]), text


def test_groups_are_told_oldest_first_with_what_they_hold_and_check_group_refuses_what_is_no_name():
    older = [(1, note("a", group="aaaaaaaa")), (1, note("b", group="aaaaaaaa"))]
    first, second = groups_of([(2, note("c", at=NOON + 40 * DAY, group="bbbbbbbb")), *older, (3, note("d"))], UTC)
    assert (first.id, first.observations, first.notes, first.tokens, first.generation) == ("aaaaaaaa", 2, 2, 200, 1)
    assert (second.id, second.generation) == ("bbbbbbbb", 2)
    assert within([first, second], "2026-03", UTC) == [first]
    assert within([first, second], "2026", UTC) == [first, second]
    assert within([first, second], "all", UTC) == [first, second]
    assert lifetime([note("a"), note("b", group="aaaaaaaa")], 60) == 0
    assert lifetime([note("a")], 60) == 60
    for name in ("", "K3FQ7A2M", "k3fq7a2", "2026-3", "..", None, 7, "k3fq7a2m\n"):
        with pytest.raises(InvalidInputError, match="a month such as 2026-03, a year, or all"):
            check_group(name)
    with pytest.raises(InvalidInputError, match="8 of a-z and 2-7"):
        check_name("2026-03")
