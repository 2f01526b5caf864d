"""Lines of notes: pinned, edited, compared."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api import InvalidInputError
from om_api.domain.notes.lineage import Covered, Difference, covered, difference
from om_api.domain.notes.pins import Notes, Pin, check_pins, needed, pins_of, stands, with_pins, written
from om_api.domain.notes.word_diff import Change, marked_lines, word_diff
from om_api.domain.values import Generation, Observation, Scope

CAT = Pin(id="p1", text="* 🔴 User has a cat", thread="t1", under="Date: Nov 2, 2026")
ALL = Pin(id="p2", text="* 🔴 User never flies")
POOL = """Date: Nov 1, 2026
* 🟡 User lives in Oslo
<thread id="t1">
Date: Nov 2, 2026
* 🟡 It rained
Date: Nov 3, 2026
* 🟡 It snowed
</thread>
<thread id="t2">
* 🟡 Orders
</thread>"""


def observation(text, thread="t1", name="o1"):
    return Observation(id=name, thread_id=thread, text=text)


def test_with_pins_puts_each_line_under_its_date_in_its_section_and_what_was_put_in_stands_and_is_not_put_in_again():
    assert with_pins(POOL, [CAT], pooled=True) == POOL.replace("* 🟡 It rained", "* 🟡 It rained\n* 🔴 User has a cat")
    assert with_pins("* 🟡 All", [CAT], pooled=True) == (
        '* 🟡 All\n<thread id="t1">\nDate: Nov 2, 2026\n* 🔴 User has a cat\n</thread>'
    )
    text = with_pins(POOL, [ALL], pooled=True)
    assert text == f"{ALL.text}\n{POOL}"
    assert with_pins('<thread id="t2">\n* 🟡 Orders\n</thread>', [ALL], pooled=True).startswith(ALL.text)
    assert with_pins("* 🟡 A", [CAT, ALL], pooled=False) == f"{ALL.text}\n* 🟡 A\nDate: Nov 2, 2026\n{CAT.text}"
    assert with_pins("", [CAT], pooled=False) == f"Date: Nov 2, 2026\n{CAT.text}"
    for text in (POOL, "", "* 🟡 All", '<thread id="t1">\n</thread>', "\n\n", "Date: Nov 2, 2026\n"):
        made = with_pins(text, [CAT, ALL], pooled=True)
        assert stands(CAT, made, pooled=True), text
        assert stands(ALL, made, pooled=True), text
        assert with_pins(made, [CAT, ALL], pooled=True) == made, text
    assert not stands(CAT, POOL.replace("* 🟡 Orders", CAT.text), pooled=True)
    assert stands(CAT, f"{CAT.text}\n{POOL}", pooled=True)
    assert stands(CAT, f"  {CAT.text}", pooled=False)
    assert not stands(CAT, f"{CAT.text}!", pooled=False)


def test_what_stays_beside_holds_a_pin_unless_it_stands_in_what_goes_too():
    scope = Scope("harold")
    here, there = observation(CAT.text), observation(CAT.text, name="o2")
    nothing = Notes.of([], [], scope)
    assert needed([CAT], nothing, nothing) == [CAT]
    assert needed([CAT], nothing, Notes.of([], [here], scope)) == []
    assert needed([CAT], Notes.of([], [there], scope), Notes.of([], [here], scope)) == [CAT]
    assert needed([CAT], Notes.of([Generation(n=1, text=CAT.text)], [], scope), Notes.of([], [here], scope)) == [CAT]
    assert needed([CAT], nothing, Notes.of([], [observation(CAT.text, "t2")], scope)) == [CAT]


def test_pins_are_read_as_they_were_written_and_others_refused():
    assert pins_of(written([CAT, ALL])) == (CAT, ALL)
    assert (written([]), pins_of("")) == (b"", ())
    for pin in (Pin(id="p", text="a\nb"), Pin(id="p", text=""), Pin(id="p", text="a", thread="{no}")):
        with pytest.raises(InvalidInputError):
            check_pins(written([pin]))


# 1 stands for a and b; 2 for c too; 3 undid 2; 4 was made of 3, of c once more, and of d
HISTORY = {1: Generation(n=1, text="*", observation_ids=("a", "b")),
           2: Generation(n=2, text="*", observation_ids=("c",)),
           3: Generation(n=3, text="*", origin="restore", restores=1),
           4: Generation(n=4, text="*", observation_ids=("c", "d"))}  # fmt: skip
TRIMMED = {n: HISTORY[n] for n in (3, 4)}
MOVED = {1: Generation(n=1, text="*", origin="restore", observation_ids=("a",)), 2: HISTORY[2]}


def test_a_generation_covers_what_it_was_made_of_and_difference_is_what_comes_back_and_what_goes():
    for n, ids in ((0, ""), (1, "ab"), (2, "abc"), (3, "ab"), (4, "abcd")):
        assert covered(HISTORY, n) == Covered(frozenset(ids), whole=True), (n, ids)
    assert covered(TRIMMED, 4) == Covered(frozenset("cd"), whole=False)
    for in_force, wanted, back, away in [
        (2, 1, "c", ""), (2, 0, "abc", ""), (4, 2, "d", ""), (4, 3, "cd", ""), (3, 2, "", "c"), (4, 4, "", ""),
    ]:  # fmt: skip
        assert difference(HISTORY, in_force, wanted) == Difference(frozenset(back), frozenset(away)), in_force
    assert difference(TRIMMED, 4, 2) is None
    assert difference(MOVED, 2, 0) is None
    assert difference(MOVED, 2, 1) == Difference(frozenset("c"), frozenset())


TEXTS = st.lists(st.sampled_from(["a", "b c", "b d", "", "é, f", "🔴 x", "\tg"]), max_size=6).map("\n".join)


def test_what_changed_is_told_in_reading_order():
    for before, now, changes in [
        ("", "", []), ("a", "a", [("same", "a")]), ("", "a", [("new", "a")]), ("a", "", [("gone", "a")]),
        ("on Friday at 9", "on Monday at 9",
         [("same", "on "), ("gone", "Friday"), ("new", "Monday"), ("same", " at 9")]),
        ("I live in Oslo\n", "It rains\n", [("gone", "I live in Oslo\n"), ("new", "It rains\n")]),
        ("I live in Oslo\nIt rains\n", "Snow fell\nI live in Bergen\n",
         [("new", "Snow fell\n"), ("same", "I live in "), ("gone", "Oslo"), ("new", "Bergen"), ("same", "\n"),
          ("gone", "It rains\n")]),
        ("a\nb\n", "a\nc\nb\n", [("same", "a\n"), ("new", "c\n"), ("same", "b\n")]),
    ]:  # fmt: skip
        assert word_diff(before, now) == [Change(*each) for each in changes], (before, now, changes)


def test_lines_are_compared_word_by_word_while_there_is_room():
    """One line of 2,000 words took a minute, and forty of 1,900 characters six seconds."""
    before, now = (" . ".join(f"{'ab'[at % 3 < other]}{at}" for at in range(100)) for other in (0, 1))
    for count in (1, 200):
        found = word_diff(f"{before}\n" * count, f"{now}\n" * count)
        assert 30 < len([each for each in found if each.what == "gone"]) < 2_000
        assert "".join(each.text for each in found if each.what != "gone") == f"{now}\n" * count


@given(TEXTS, TEXTS)
def test_the_stretches_make_up_both_texts(before, now):
    changes = word_diff(before, now)
    assert "".join(each.text for each in changes if each.what != "gone") == now
    assert "".join(each.text for each in changes if each.what != "new") == before
    assert all(one.what != other.what for one, other in pairwise(changes))
    assert all(each.text for each in changes)


def test_in_plain_text_each_line_says_by_a_mark_what_became_of_it():
    for before, now, lines in [
        ("* same", "* same", ["  * same"]),
        ("* Ada is his mother.", "* Ada is his sister.", ["~ * Ada is his [-mother-]{+sister+}."]),
        ("a\nb", "a\nb\nc", ["  a", "  b", "+ {+c+}"]), ("a\nb\nc", "a", ["  a", "- [-b-]", "- [-c-]"]),
        ("a\nx\nc", "a\ny z\nq\nc", ["  a", "- [-x-]", "+ {+y z+}", "+ {+q+}", "  c"]),
        ("a\n\nb", "a\nb", ["  a", "- ", "  b"]), ("x y\nz", "x z", ["- [-x y-]", "- [-z-]", "+ {+x z+}"]),
        ("one two three four\nfive", "one two three five", ["~ one two three [-four-]{+five+}", "- [-five-]"]),
    ]:  # fmt: skip
        assert marked_lines(before, now) == lines, (before, now, lines)
