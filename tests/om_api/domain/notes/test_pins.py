"""Pins: whether a line stands, and where it is put where it does not."""

import pytest

from om_api import InvalidInputError
from om_api.domain.notes.pins import Notes, Pin, check_pins, needed, pins_of, stands, with_pins, written
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


def test_a_pinned_line_comes_under_its_date_in_its_threads_section():
    assert with_pins(POOL, [CAT], pooled=True) == POOL.replace("* 🟡 It rained", "* 🟡 It rained\n* 🔴 User has a cat")


def test_a_pinned_line_of_a_thread_without_a_section_gets_one():
    assert with_pins("* 🟡 All", [CAT], pooled=True) == (
        '* 🟡 All\n<thread id="t1">\nDate: Nov 2, 2026\n* 🔴 User has a cat\n</thread>'
    )


def test_what_is_common_stands_outside_of_all_sections():
    text = with_pins(POOL, [ALL], pooled=True)

    assert text == f"{ALL.text}\n{POOL}"
    assert with_pins('<thread id="t2">\n* 🟡 Orders\n</thread>', [ALL], pooled=True).startswith(ALL.text)


def test_a_memory_of_one_thread_has_no_sections():
    assert with_pins("* 🟡 A", [CAT, ALL], pooled=False) == f"{ALL.text}\n* 🟡 A\nDate: Nov 2, 2026\n{CAT.text}"
    assert with_pins("", [CAT], pooled=False) == f"Date: Nov 2, 2026\n{CAT.text}"


@pytest.mark.parametrize("text", [POOL, "", "* 🟡 All", '<thread id="t1">\n</thread>', "\n\n", "Date: Nov 2, 2026\n"])
def test_what_was_put_in_stands_and_is_not_put_in_again(text):
    made = with_pins(text, [CAT, ALL], pooled=True)

    assert stands(CAT, made, pooled=True)
    assert stands(ALL, made, pooled=True)
    assert with_pins(made, [CAT, ALL], pooled=True) == made


def test_a_line_in_another_threads_section_does_not_count():
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


def test_pins_are_read_as_they_were_written():
    assert pins_of(written([CAT, ALL])) == (CAT, ALL)
    assert (written([]), pins_of("")) == (b"", ())


@pytest.mark.parametrize("pin", [Pin(id="p", text="a\nb"), Pin(id="p", text=""), Pin(id="p", text="a", thread="{no}")])
def test_pins_of_a_file_that_are_none_are_refused(pin):
    with pytest.raises(InvalidInputError):
        check_pins(written([pin]))
