import msgspec
import pytest
from snapshots import DAY, NOON, context, full, kinds, observed, said, snapshot, volatile

from om_api.domain.values import Generation, Stored, ThreadState


def test_two_days_differ_in_the_volatile_block_only():
    today, tomorrow = context(full()), context(full(), now=NOON + DAY)

    assert today.blocks[:-1] == tomorrow.blocks[:-1]
    assert "Tuesday, December 30, 2025" in volatile(today)
    assert "Wednesday, December 31, 2025" in volatile(tomorrow)


def test_a_turn_of_the_same_day_changes_no_block_before_it():
    before, after = full(), full()
    after.messages.append(said("next", NOON + 2))

    assert context(after).blocks[:7] == context(before).blocks[:7]


def test_the_task_and_the_suggested_response_come_last():
    made = context(full("fine", task="Primary: ship it"))

    assert "<current-task>\nPrimary: ship it\n</current-task>" in volatile(made)
    assert "<suggested-response>\nfine\n</suggested-response>" in volatile(made)


@pytest.mark.parametrize(
    ("talk", "shown"),
    [
        ([("user", 1), ("assistant", 2)], True),  # what it was made from, and raw still
        ([("assistant", 2), ("user", 9)], True),
        ([("user", 9), ("assistant", 10)], False),
        ([("assistant", 10), ("user", 11)], False),
        ([("assistant", 5)], False),  # in the same millisecond, and not among what was observed
        ([], True),
    ],
)
def test_a_suggestion_is_left_out_once_the_actor_has_spoken_after_what_it_was_made_from(talk, shown):
    thread = ThreadState(id="t1", current_task="ship it", suggested_response="say so", suggested_response_at=NOON + 5)
    made = context(snapshot([said("x", NOON + at, role) for role, at in talk], [observed(1)], thread=thread))

    assert ("say so" in volatile(made)) is shown
    assert "ship it" in volatile(made)


def test_a_suggestion_is_left_out_by_the_actors_words_in_any_order_of_messages():
    thread = ThreadState(id="t1", suggested_response="say so", suggested_response_at=NOON + 5)
    talk = [said("later", NOON + 9, "assistant"), said("earlier", NOON)]

    assert "say so" not in volatile(context(snapshot(talk, [observed(1)], thread=thread)))


@pytest.mark.parametrize(
    ("days", "newer", "noted"),
    [
        (0, False, ""),
        (9, False, ""),
        (0, True, ' noted="today"'),
        (1, True, ' noted="yesterday"'),
        (2, True, ' noted="2 days ago"'),
        (15, True, ' noted="2 weeks ago"'),
        (-3, True, ""),
    ],
    ids=["new", "of the newest activation", "today", "yesterday", "days", "weeks", "of a clock that is ahead"],
)
def test_a_task_older_than_the_newest_activation_says_its_age(days, newer, noted):
    thread = ThreadState(id="t1", current_task="ship it", current_task_at=NOON - days * DAY, current_task_from="m2")
    sources = [observed(1), *([observed(2, thread="t2", activation="a2")] if newer else [observed(2, thread="t2")])]
    first = Stored(1, msgspec.structs.replace(sources[0].observation, source_range=("m1", "m2")), b"")
    made = context(snapshot([said("hi")], [first, sources[1]], thread=thread))

    assert f"<current-task{noted}>\nship it\n</current-task>" in volatile(made)


def test_a_task_says_its_age_when_another_thread_has_a_message_of_that_name():
    thread = ThreadState(id="t1", current_task="ship it", current_task_at=NOON, current_task_from="m2")
    other = msgspec.structs.replace(observed(1, thread="t2").observation, source_range=("m1", "m2"))

    assert '<current-task noted="today">' in volatile(context(snapshot([], [Stored(1, other, b"")], thread=thread)))


def test_a_task_whose_notes_were_reflected_says_its_age_in_the_agents_zone():
    late = NOON + 11 * 3_600_000 - DAY  # 23:00 of the day before
    thread = ThreadState(id="t1", current_task="ship it", current_task_at=late, current_task_from="m2")
    read = snapshot([], generation=Generation(n=1, text="* noted"), thread=thread)

    assert '<current-task noted="yesterday">' in volatile(context(read))
    assert '<current-task noted="today">' in volatile(context(read, timezone="Europe/Berlin"))


def test_a_task_of_before_of_which_nobody_knows_the_time_says_no_age():
    made = context(snapshot([], [observed(1)], thread=ThreadState(id="t1", current_task="ship it")))

    assert "<current-task>\nship it\n</current-task>" in volatile(made)


def test_an_age_changes_nothing_but_the_last_block():
    thread = ThreadState(id="t1", current_task="ship it", current_task_at=NOON - DAY, current_task_from="m2")
    read = snapshot([said("hi")], [observed(1)], thread=thread)
    today, tomorrow = context(read), context(read, now=NOON + DAY)

    assert today.blocks[:-1] == tomorrow.blocks[:-1]
    assert ('noted="yesterday"' in volatile(today), 'noted="2 days ago"' in volatile(tomorrow)) == (True, True)


def test_a_memory_that_cannot_be_reached_is_owned_up_to():
    made = context(snapshot([said("hello")]), unavailable=True)

    assert made.unavailable
    assert kinds(made) == ["message", "volatile"]
    assert "could not be reached" in volatile(made)


@pytest.mark.parametrize(
    "read",
    [
        snapshot([said("hello")], thread=ThreadState(id="t1", current_task="Primary: x")),
        snapshot([said("hello")], others={"t2": [said("there")]}, other_counts={"t2": 1}),
    ],
    ids=["a task", "an excerpt"],
)
def test_without_memory_a_task_or_an_excerpt_still_comes_last(read):
    assert kinds(context(read))[-2:] == ["message", "volatile"]


def test_what_was_said_elsewhere_can_be_looked_up_before_anything_is_noted():
    alone, beside = (context(snapshot([said("hello")], other_counts=counts)) for counts in ({}, {"t2": 1}))

    assert (kinds(alone), kinds(beside)) == (["message"], ["message", "volatile"])
    assert "tool named `recall`" in volatile(beside)
