"""Where policy decides one way on one side of a number and the other way on the other: each edge by itself."""

import pytest

from om_api.domain.policy import (
    Limits,
    Move,
    Pressure,
    activation,
    buffer_size,
    deadline,
    decide,
    drained,
    is_urgent,
    reflection,
    sealing,
    select,
    wake,
)
from om_api.domain.values import Chunk

NOW = 1_800_000_000_000
HOUR = 3_600_000


def chunk(name, tokens=6_000, *, thread="t", ready=True, messages=10):
    return Chunk(id=name, thread=thread, seq=float(name[1:]), tokens=tokens, messages=messages, ready=ready)


def ids(chunks):
    return [each.id for each in chunks]


def test_what_nobody_states_is_nothing():
    shared = Limits(share_token_budget=True)

    assert decide(Pressure(), Limits(), NOW) == ("rest", (), 0, (), 0, False)
    assert reflection(Pressure(), Limits(), drafted=False, forced=True) == "rest"
    assert [is_urgent(Pressure(unsealed={"t": (u, 3)}), shared) for u in (69_999, 70_000)] == [False, True]


@pytest.mark.parametrize(
    ("u", "b", "expected"),
    [
        (6_300, 0, 6_300),  # as far from b as even chunks may be
        (6_301, 0, 6_000),
        (11_400, 0, 11_400),
        (11_399, 0, 6_000),
        (5_000, 18_500, 0),  # smaller than 0.9 b, and one of 0.9 b still fits
        (5_000, 18_600, 0),
        (5_000, 18_601, 5_000),
        (3_000, 20_400, 3_000),
        (11_000, 18_900, 6_000),  # judged by the chunk that is cut, not by all that waits
        (6_000, 20_999, 6_000),
        (6_000, 21_000, 0),  # would leave as little below the floor as there is above it now
        (6_000, 21_500, 0),
    ],
)
def test_a_chunk_is_sealed_where_it_serves_the_next_activation(u, b, expected):
    assert buffer_size(u, b, Limits(), 30_000) == expected


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(floor=12_000),
        Limits(buffer_tokens=2_000, floor=3_000),
        Limits(message_threshold=10, buffer_tokens=1, floor=0),
    ],
)
def test_a_push_is_due_from_the_first_token_on_that_is_worth_a_look(limits):
    t = limits.message_threshold
    for sealed in range(0, t + t // 10, max(1, t // 300)):
        point = wake(Pressure(chunks=[chunk("c1", sealed)] if sealed else ()), limits)

        assert point >= 1
        assert buffer_size(point, sealed, limits, t) > 0 or point + sealed >= t, sealed
        assert buffer_size(point - 1, sealed, limits, t) == 0, sealed


def test_what_was_asked_for_by_force_is_sealed_once_where_anything_is_raw():
    raw = {"asked": (5, 1), "again": (5, 1), "empty": (0, 0), "weightless": (0, 1)}
    forced = {"asked": 0.0, "weightless": 0.0, "again": 7.0, "empty": 0.0, "gone": 0.0}

    assert sealing(Pressure(unsealed=raw, forced=forced), Limits(), NOW) == Move(
        "seal", threads=("asked", "weightless")
    )
    assert sealing(Pressure(unsealed=raw, forced={"empty": 0.0, "gone": 0.0}), Limits(), NOW) is None


def test_a_paused_memory_seals_nothing_and_activates_what_is_ready():
    full = Pressure(unsealed={"t": (6_000, 10)}, chunks=[chunk(f"c{n}") for n in range(1, 5)], paused=True)

    assert decide(Pressure(unsealed={"t": (50_000, 10)}, paused=True), Limits(), NOW) == Move("rest")
    assert decide(full, Limits(), NOW).kind == "activate"


def test_a_full_window_is_urgent_only_while_nothing_is_ready():
    chunks = [chunk("c1", 14_000, ready=False), chunk("c2", 14_000)]

    assert not is_urgent(Pressure(unsealed={"t": (2_000, 3)}, chunks=chunks), Limits())
    assert is_urgent(Pressure(unsealed={"t": (16_000, 3)}, chunks=chunks[:1]), Limits())
    assert not is_urgent(Pressure(unsealed={"t": (15_999, 3)}, chunks=chunks[:1]), Limits())


def test_a_scope_is_due_when_the_first_of_its_threads_lies_idle_or_its_chunks_may_be_activated():
    quiet, busy = NOW - 9, NOW
    raw = {"t": (10, 3), "u": (10, 3), "v": (10, 2)}
    here = {"last_at": {"t": busy, "u": quiet, "v": 0}}

    assert deadline(Pressure(unsealed=raw, **here), Limits(), 0) == quiet + HOUR
    chunks = [chunk("c1"), chunk("c2", messages=2, ready=False)]
    assert deadline(Pressure(chunks=chunks, last_at={"t": busy, "u": quiet}), Limits(), 0) == busy + HOUR
    assert deadline(Pressure(chunks=chunks), Limits(), 0) is None
    assert deadline(Pressure(chunks=chunks[:1], last_at={"t": busy}), Limits(), 0) is None


@pytest.mark.parametrize("limits", [Limits(enabled=False), Limits(read_only=True), Limits()])
def test_who_seals_nothing_waits_for_no_deadline(limits):
    idle = Pressure(unsealed={"t": (10, 3)}, last_at={"t": NOW}, paused=limits == Limits())

    assert deadline(idle, limits, NOW) is None


@pytest.mark.parametrize(("window", "expected"), [(35_999, []), (36_000, ["c1"])])
def test_the_newest_messages_go_too_from_block_after_on(window, expected):
    assert ids(activation(Pressure(chunks=[chunk("c1", window, messages=3)]), Limits(), NOW)) == expected


def test_a_due_reflection_has_activated_what_was_sealed_by_then():
    chunks = [chunk("c1", messages=2), chunk("c2", messages=2), chunk("c3", messages=9)]

    assert ids(activation(Pressure(chunks=chunks, drain=2.0), Limits(), NOW)) == ["c1", "c2"]
    assert ids(activation(Pressure(chunks=chunks), Limits(), NOW)) == []


@pytest.mark.parametrize(
    ("sizes", "floor", "window", "force", "expected"),
    [
        ([20_000, 4_000, 1_000], 6_000, 30_000, False, 2),  # reaches the target exactly
        ([20_000, 9_000], 6_000, 30_000, False, 2),  # leaves 1,000
        ([20_000, 9_001], 6_000, 30_000, False, 1),
        ([10_000, 10_000, 9_001], 6_000, 30_000, False, 2),  # the largest below the target
        ([50_000, 48_000], 40_000, 100_000, False, 2),  # 0.95 of the floor too many
        ([50_000, 48_001], 40_000, 100_000, False, 1),
        ([50_000, 48_001], 40_000, 100_000, True, 2),
        ([99_000], 40_000, 100_000, False, 1),
        ([0, 5], 6_000, 3_000, False, 1),
        ([400, 100], 500, 900, False, 1),  # a floor of less than 1,000 is left whole
        ([300, 101], 500, 900, False, 1),
    ],
)
def test_a_selection_overshoots_no_more_than_it_may(sizes, floor, window, force, expected):
    assert select(sizes, floor, window, force=force) == expected


REFLECT = {"observation_tokens": 48_000, "observation_count": 3}


@pytest.mark.parametrize(
    ("pressure", "limits", "forced", "expected"),
    [
        (REFLECT, {}, False, "reflect"),
        ({**REFLECT, "observation_count": 0}, {}, True, "rest"),
        (REFLECT, {"enabled": False}, True, "rest"),
        (REFLECT, {"read_only": True}, True, "rest"),
        ({**REFLECT, "paused": True}, {}, False, "rest"),
        ({**REFLECT, "paused": True}, {}, True, "reflect"),
        ({"observation_tokens": 1, "observation_count": 1}, {}, False, "rest"),
        ({"observation_tokens": 1, "observation_count": 1}, {}, True, "reflect"),
        ({"observation_tokens": 1, "observation_count": 999}, {}, False, "rest"),
        ({"observation_tokens": 1, "observation_count": 1_000}, {}, False, "reflect"),
        ({"observation_tokens": 47_999, "observation_count": 3, "unsealed": {"t": (900, 9)}}, {}, False, "drain"),
        (
            {"observation_tokens": 40_000, "observation_count": 3, "unsealed": {"t": (9, 9)}},
            {"drain": False},
            False,
            "reflect",
        ),
    ],
)
def test_a_reflection_is_due_where_there_is_something_to_condense_and_leave_to_do_it(
    pressure, limits, forced, expected
):
    assert reflection(Pressure(**pressure), Limits(**limits), drafted=True, forced=forced) == expected


@pytest.mark.parametrize(
    ("pressure", "expected"),
    [
        ({}, True),
        ({"unsealed": {"t": (9, 2)}}, True),
        ({"unsealed": {"t": (9, 2), "u": (9, 3)}}, False),
        ({"chunks": [chunk("c1", messages=1)]}, False),
        ({"chunks": [chunk("c1", messages=1)], "drain": 1.0}, True),  # min_recent_messages keeps it raw
        ({"chunks": [chunk("c1", messages=2), chunk("c2", messages=2)], "drain": 1.0}, False),
        ({"chunks": [chunk("c1", messages=1, ready=False)], "drain": 1.0}, False),
        ({"chunks": [chunk("c2", messages=9)], "drain": 1.0}, True),  # sealed later
    ],
)
def test_a_scope_is_drained_when_nothing_is_left_that_may_be_activated(pressure, expected):
    assert drained(Pressure(**pressure), Limits()) == expected
