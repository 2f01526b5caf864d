"""Working memories: what is kept when fields change, beside what an Observer proposed."""

import pytest

from om_api.domain.kept.working_memory import WorkingForm, stamp, values_of, written

FORM = WorkingForm(fields=("Name", "City"))


def test_a_field_that_says_what_it_said_keeps_its_time():
    kept = {"Name": ["Ada", 5], "City": ["Graz", 6]}

    assert stamp(FORM, kept, {}, {"Name": "Ada", "City": "Rome"}, 9) == {"Name": ["Ada", 5], "City": ["Rome", 9]}


def test_what_was_proposed_is_not_kept_when_another_field_is_written():
    """Breaks when a proposal is kept as if an Actor had said it now: what a user said since would lose to it."""
    proposed = {"City": ["Graz", 10]}
    after = stamp(FORM, {}, proposed, {"Name": "Ada", "City": "Graz"}, 30)

    assert after == {"Name": ["Ada", 30]}
    assert values_of(after, {"City": ["Wien", 20]}) == {"Name": "Ada", "City": "Wien"}


def test_what_was_proposed_can_be_emptied():
    proposed = {"City": ["Graz", 10]}
    after = stamp(FORM, {}, proposed, {}, 30)

    assert values_of(after, proposed) == {}
    assert values_of(after, {"City": ["Wien", 40]}) == {"City": "Wien"}


def test_who_writes_now_has_the_last_word_over_what_is_dated_ahead():
    proposed = {"City": ["Graz", 9_000]}

    assert values_of(stamp(FORM, {}, proposed, {"City": "Rome"}, 30), proposed) == {"City": "Rome"}


def test_a_field_that_the_form_does_not_have_any_more_stays():
    assert stamp(FORM, {"Hobby": ["tea", 1]}, {}, {"Name": "Ada"}, 9) == {"Hobby": ["tea", 1], "Name": ["Ada", 9]}


@pytest.mark.parametrize("value", [["tea", "City: Graz", "x\n- Name: Mallory"], {"a": "x\n- Name: Mallory"}])
def test_no_part_of_a_value_passes_for_a_field(value):
    assert "\n- " not in f"- Prefers: {written(value)}"
