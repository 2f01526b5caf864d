"""Where policy decides one way on one side of a number and the other way on the other."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.policy import (
    Limits,
    Move,
    Pressure,
    activation,
    buffer_due,
    buffer_size,
    cold_at,
    deadline,
    decide,
    drained,
    due_from,
    eligible,
    is_cold,
    is_full,
    is_urgent,
    oldest_prefix,
    reflection,  # fmt: skip
    reviewed,
    sealing,
    select,
    threshold,
    wake,
)
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.domain.values import Chunk

DEFAULT = Limits()
NOW = 1_800_000_000_000
HOUR, MINUTE = 3_600_000, 60_000


def chunk(name, tokens=6_000, *, thread="t", ready=True, messages=10):
    return Chunk(id=name, thread=thread, seq=float(name[1:]), tokens=tokens, messages=messages, ready=ready)


def pressure(u=0, chunks=(), messages=10, **rest):
    return Pressure(unsealed={"t": (u, messages)} if u else {}, chunks=chunks, **rest)


def ids(chunks):
    return [each.id for each in chunks]


FOUR = [chunk(f"c{n}") for n in range(1, 5)]


def test_select_leaves_about_the_floor_and_overshoots_no_more_than_it_may():
    for sizes, floor, window, force, expected in [
        ([6000] * 4, 6_000, 30_000, False, 4), ([6000] * 5, 6_000, 30_000, False, 4),
        ([6000] * 3, 6_000, 30_000, False, 3), ([10000] * 3, 6_000, 30_000, False, 2),
        ([29500], 6_000, 30_000, False, 1), ([30000], 6_000, 30_000, False, 1), ([29500], 6_000, 37_000, False, 1),
        ([14000, 15900], 6_000, 30_000, False, 1), ([14000, 15900], 6_000, 36_000, True, 2),
        ([12000, 17000], 6_000, 30_000, False, 2), ([12000, 17500], 6_000, 30_000, False, 1),
        ([6000] * 4, 0, 30_000, False, 4), ([6000] * 5, 0, 30_000, False, 5), ([6000] * 4, 4_000, 30_000, False, 4),
        ([6000] * 5, 4_000, 31_000, False, 5), ([2000], 6_000, 30_000, False, 1), ([], 6_000, 60_000, False, 0),
        ([20_000, 4_000, 1_000], 6_000, 30_000, False, 2),  # reaches the target exactly
        ([20_000, 9_000], 6_000, 30_000, False, 2),  # leaves 1,000
        ([20_000, 9_001], 6_000, 30_000, False, 1),
        ([10_000, 10_000, 9_001], 6_000, 30_000, False, 2),  # the largest below the target
        ([50_000, 48_000], 40_000, 100_000, False, 2),  # 0.95 of the floor too many
        ([50_000, 48_001], 40_000, 100_000, False, 1), ([50_000, 48_001], 40_000, 100_000, True, 2),
        ([99_000], 40_000, 100_000, False, 1), ([0, 5], 6_000, 3_000, False, 1),
        ([400, 100], 500, 900, False, 1),  # a floor of less than 1,000 is left whole
        ([300, 101], 500, 900, False, 1),
    ]:  # fmt: skip
        assert select(sizes, floor, window, force=force) == expected, (sizes, floor, window, force)


def test_buffer_due_is_every_b_and_every_half_b_near_the_threshold():
    for window, sealed, expected in [
        (5999, 0, False), (6000, 0, True), (11999, 6000, False), (12000, 6000, True), (23399, 18000, False),
        (23400, 18000, True), (26999, 24000, False), (27000, 24000, True), (29999, 27000, False),
    ]:  # fmt: skip
        assert buffer_due(window - sealed, sealed, DEFAULT, 30_000) is expected, (window, sealed)


def test_buffer_size_brings_the_window_nearer_to_the_floor_and_chunks_are_the_same_however_long_the_observer_takes():
    for u, b, expected in [
        (0, 0, 0), (2_999, 0, 0), (2_999, 27_000, 0), (2_999, 60_000, 0),  # less than half a chunk
        (5_999, 0, 0), (6_000, 0, 6_000), (6_200, 0, 6_200),  # even chunks of about b: one of 6,200
        (6_300, 0, 6_300), (6_301, 0, 6_000), (6_500, 0, 6_000),  # 6,300 is as far from b as even chunks may be
        (11_399, 0, 6_000), (11_400, 0, 11_400), (14_000, 0, 12_000),
        (16_400, 0, 12_000),  # three of 5,467 would be too far from b
        (40_000, 0, 40_000),  # seven of 5,714
        (5_400, 18_000, 5_400), (5_000, 18_500, 0), (5_000, 18_600, 0),  # below 0.9 b, and one of 0.9 b still fits
        (5_000, 18_601, 5_000), (3_000, 20_400, 3_000),
        (3_000, 23_400, 0),  # would leave 3,600 at T, four chunks leave 6,600: nearer to the floor
        (6_000, 23_400, 0), (6_600, 23_400, 6_000), (3_000, 27_000, 3_000),  # 6,600: the window is full
        (11_000, 18_900, 6_000),  # judged by the chunk that is cut, not by all that waits
        (6_000, 20_999, 6_000), (6_000, 21_000, 0),  # would leave as little below the floor as there is above it now
        (6_000, 21_500, 0),
    ]:  # fmt: skip
        assert buffer_size(u, b, DEFAULT, 30_000) == expected, (u, b)
    # Steps of 1,000 tokens; a chunk is ready `slow` steps after it was sealed.
    for slow, made in ((0, 4), (3, 4), (100, 5)):  # with none ready at T, what is left is sealed as well
        u, chunks = 0, []
        for step in range(30):
            u += 1000
            held = [chunk(f"c{n}", size, ready=step - at >= slow) for n, (size, at) in enumerate(chunks, 1)]
            move = decide(pressure(u, held), DEFAULT, NOW)
            if move.kind == "seal":
                chunks.append((move.tokens, step))
                u -= move.tokens
        assert [size for size, _ in chunks] == [6000] * made, slow


def test_wake_is_the_first_number_of_tokens_that_is_worth_a_look():
    for sealed, expected in [(0, 6000), (12000, 6000), (18000, 5400), (23400, 6600), (29900, 100), (40000, 1)]:
        assert wake(pressure(0, [chunk("c1", sealed)] if sealed else ()), DEFAULT) == expected, sealed
    for limits in (
        DEFAULT, Limits(floor=12_000), Limits(buffer_tokens=2_000, floor=3_000),
        Limits(message_threshold=10, buffer_tokens=1, floor=0),
    ):  # fmt: skip
        t = limits.message_threshold
        for sealed in range(0, t + t // 10, max(1, t // 300)):
            point = wake(Pressure(chunks=[chunk("c1", sealed)] if sealed else ()), limits)
            assert point >= 1
            assert buffer_size(point, sealed, limits, t) > 0 or point + sealed >= t, (limits, sealed)
            assert buffer_size(point - 1, sealed, limits, t) == 0, (limits, sealed)


def test_a_shared_budget_gives_messages_what_observations_leave():
    shared = Limits(share_token_budget=True)
    assert [threshold(shared, tokens) for tokens in (0, 10_000, 40_000, 90_000)] == [70_000, 60_000, 30_000, 30_000]
    assert [is_urgent(Pressure(unsealed={"t": (u, 3)}), shared) for u in (69_999, 70_000)] == [False, True]


BURST = [chunk(f"c{n}", ready=n < 3) for n in range(1, 5)]  # of 30,000: two of four are ready


def test_activation_of_a_burst_waits_for_the_chunks_that_are_due_with_it():
    """Breaks when the first chunk of a burst leaves alone, and the prefix changes again for the others."""
    last = chunk("c4", ready=False)
    for full, expected in [
        (pressure(6_000, BURST), ""), (pressure(6_000, [*FOUR[:3], last]), ""), (pressure(6_000, FOUR), "c1 c2 c3 c4"),
        (pressure(5_900, [*FOUR[:3], chunk("c4", 6_100, ready=False)]), "c1 c2 c3"),
        (pressure(12_000, BURST), "c1 c2"),  # at block_after
        (pressure(6_000, BURST, paused=True), "c1 c2"), (pressure(6_000, BURST, drain=9), "c1 c2"),
        (pressure(6_000, BURST, forced={"t": 2}), "c1 c2"),
        (pressure(6_000, BURST, last_at={"t": NOW - HOUR}), "c1 c2"),
        # a chunk that would leave its thread too little is not waited for
        (pressure(6_000, [chunk("c1", 24_000), chunk("c2", 500, ready=False, messages=9, thread="other")]), "c1"),
    ]:  # fmt: skip
        assert " ".join(ids(activation(full, DEFAULT, NOW))) == expected, full
    assert ids(activation(pressure(6_000, BURST), Limits(enabled=False), NOW)) == ["c1", "c2"]  # nobody observes more


def test_a_chunk_is_eligible_behind_its_earlier_ones_while_its_thread_keeps_enough_raw_messages():
    unready = [chunk("c1", 100, ready=False), chunk("c2", 100), chunk("c3", 100, thread="other")]
    chunks = [chunk("c1", 15_000, messages=5), chunk("c2", 15_500, messages=1)]
    due = [chunk("c1", messages=2), chunk("c2", messages=2), chunk("c3", messages=9)]
    assert ids(eligible(Pressure(chunks=unready), 0)) == ["c3"]
    assert [ids(eligible(pressure(0, chunks), keep)) for keep in (1, 2)] == [["c1"], []]
    assert ids(activation(pressure(6_000, chunks, messages=0), DEFAULT, NOW)) == ["c1", "c2"]
    assert ids(activation(Pressure(chunks=due), DEFAULT, NOW)) == []
    assert ids(activation(Pressure(chunks=due, drain=2.0), DEFAULT, NOW)) == ["c1", "c2"]
    for window, expected in ((35_999, []), (36_000, ["c1"])):  # from block_after on the newest messages go too
        assert ids(activation(Pressure(chunks=[chunk("c1", window, messages=3)]), DEFAULT, NOW)) == expected, window


def test_decide_activates_at_the_threshold_and_a_full_window_is_urgent_only_while_nothing_is_ready():
    assert decide(pressure(6000, FOUR), DEFAULT, NOW) == Move("activate", ("c1", "c2", "c3", "c4"))
    assert decide(pressure(5999, FOUR), DEFAULT, NOW).kind == "rest"
    assert decide(Pressure(), DEFAULT, NOW) == Move("rest")
    chunks = [chunk("c1", 14_000, ready=False), chunk("c2", 14_000)]
    assert decide(pressure(2000, [chunk("c1", 28_000, ready=False)]), DEFAULT, NOW).urgent
    assert not is_urgent(pressure(2_000, chunks), DEFAULT)
    assert [is_urgent(pressure(u, chunks[:1]), DEFAULT) for u in (15_999, 16_000)] == [False, True]


def test_an_idle_scope_is_activated_below_the_threshold_because_its_prompt_cache_is_cold():
    idle = pressure(500, [chunk("c1")], last_at={"t": NOW - HOUR})
    assert decide(idle, DEFAULT, NOW) == Move("activate", ("c1",))
    assert decide(idle, DEFAULT, NOW - 1).kind == "rest"
    assert [deadline(idle, DEFAULT, now) for now in (NOW - 1, NOW)] == [NOW, NOW + HOUR]


def test_a_scope_is_asleep_when_its_last_thread_is():
    """Breaks when one quiet thread counts: the context of all would be rewritten while the others' prompt cache is warm."""
    chunks = [chunk("c1"), chunk("c2", thread="quiet")]
    busy = pressure(500, chunks, last_at={"t": NOW - 1, "quiet": NOW - 9 * HOUR})
    assert decide(busy, DEFAULT, NOW) == Move("rest")
    assert deadline(busy, DEFAULT, NOW) == NOW - 1 + HOUR


def test_deadline_is_when_the_first_thread_lies_idle_or_chunks_may_be_activated():
    quiet, busy = NOW - 9, NOW
    raw = {"t": (10, 3), "u": (10, 3), "v": (10, 2)}
    chunks = [chunk("c1"), chunk("c2", messages=2, ready=False)]
    idle = Pressure(unsealed={"t": (10, 3)}, last_at={"t": NOW})
    assert deadline(Pressure(unsealed=raw, last_at={"t": busy, "u": quiet, "v": 0}), DEFAULT, 0) == quiet + HOUR
    assert deadline(Pressure(chunks=chunks, last_at={"t": busy, "u": quiet}), DEFAULT, 0) == busy + HOUR
    assert deadline(Pressure(chunks=chunks), DEFAULT, 0) is None
    assert deadline(Pressure(chunks=chunks[:1], last_at={"t": busy}), DEFAULT, 0) is None
    assert [deadline(idle, limits, NOW) for limits in (Limits(enabled=False), Limits(read_only=True))] == [None] * 2
    assert deadline(msgspec.structs.replace(idle, paused=True), DEFAULT, NOW) is None


_ready = st.lists(
    st.tuples(st.sampled_from("tuv"), st.integers(1, 6_000), st.integers(1, 5), st.booleans()), max_size=4
)
_raw = st.dictionaries(st.sampled_from("tuv"), st.tuples(st.integers(0, 6_000), st.integers(1, 5)))
_ages = st.lists(st.integers(0, 4 * HOUR), min_size=3, max_size=3)


@given(_ready, _raw, _ages)
def test_a_scope_at_rest_is_looked_at_again_only_later(ready, raw, ages):
    """Breaks when a deadline lies in the past: the scope would be claimed, looked at and put back without end."""
    chunks = [chunk(f"c{n + 1}", tokens, thread=t, messages=m, ready=r) for n, (t, tokens, m, r) in enumerate(ready)]
    last_at = {thread: NOW - age for thread, age in zip("tuv", ages, strict=True)}
    here = Pressure(unsealed=raw, chunks=chunks, last_at=last_at)
    again = deadline(here, DEFAULT, NOW)
    assert decide(here, DEFAULT, NOW).kind != "rest" or again is None or again > NOW
    assert again is None or decide(here, DEFAULT, again).kind != "rest"


def test_an_idle_thread_is_sealed_but_for_its_newest_messages():
    assert decide(pressure(500, last_at={"t": NOW - HOUR}), DEFAULT, NOW) == Move("seal", threads=("t",), keep=2)
    assert decide(pressure(500, messages=2, last_at={"t": 0}), DEFAULT, NOW) == Move("rest")


def test_force_seals_each_thread_with_raw_messages_once_and_then_activates():
    raw = {"asked": (5, 1), "again": (5, 1), "empty": (0, 0), "weightless": (0, 1)}
    forced = {"asked": 0.0, "weightless": 0.0, "again": 7.0, "empty": 0.0, "gone": 0.0}
    sealed = sealing(Pressure(unsealed=raw, forced=forced), DEFAULT, NOW)
    assert sealed == Move("seal", threads=("asked", "weightless"))
    assert sealing(Pressure(unsealed=raw, forced={"empty": 0.0, "gone": 0.0}), DEFAULT, NOW) is None
    assert decide(pressure(50, forced={"t": 0}), DEFAULT, NOW) == Move("seal", threads=("t",))
    ready = pressure(0, [chunk("c1", 50, messages=1)], forced={"t": 1.0})
    assert decide(ready, DEFAULT, NOW) == Move("activate", ("c1",))


def test_a_disabled_paused_or_read_only_memory_seals_nothing_and_only_a_read_only_one_activates_nothing():
    for limits, paused, served in [
        (Limits(enabled=False), False, "activate"), (Limits(read_only=True), False, "rest"),
        (DEFAULT, True, "activate"),
    ]:  # fmt: skip
        assert decide(pressure(50_000, paused=paused), limits, NOW) == Move("rest"), (limits, paused)
        assert decide(pressure(6_000, FOUR, paused=paused), limits, NOW).kind == served, (limits, paused)


@st.composite
def pressures(draw):
    chunks = [chunk(f"c{n + 1}", draw(st.integers(1, 12_000)), thread=draw(st.sampled_from("xy")),
                    messages=draw(st.integers(1, 20)), ready=draw(st.booleans()))
              for n in range(draw(st.integers(0, 8)))]  # fmt: skip
    threads = draw(st.sets(st.sampled_from("xy")))
    return Pressure(
        chunks=chunks, unsealed={t: (draw(st.integers(0, 20_000)), draw(st.integers(1, 30))) for t in threads}
    )


@given(pressures())
def test_activation_takes_ready_chunks_in_order_and_leaves_each_thread_its_newest_messages(some):
    chosen = set(ids(activation(some, DEFAULT, NOW)))
    for each in some.chunks:
        before = [other for other in some.chunks if other.thread == each.thread and other.seq < each.seq]
        assert each.id not in chosen or (each.ready and all(other.id in chosen for other in before))
    gone = {t: sum(c.messages for c in some.chunks if c.thread == t and c.id in chosen) for t in "xy"}
    raw = {t: some.unsealed.get(t, (0, 0))[1] + sum(c.messages for c in some.chunks if c.thread == t) for t in "xy"}
    if some.u + some.b < DEFAULT.block_after:
        assert all(not gone[t] or raw[t] - gone[t] >= 2 for t in "xy")


CLAUDE = PromptCache(lifetime_ms=5 * MINUTE, minimum=1024, write=1.25, read=0.1)
AWARE = Limits(timing="cache", cache=CLAUDE, floor=3_000)
PRICED = Limits(timing="price", cache=CLAUDE, floor=3_000)


def test_due_from_is_where_an_activation_is_due_while_the_cache_is_warm():
    blocked = Limits(timing="cache", cache=CLAUDE, block_after=20_000, message_threshold=30_000)
    cheap = Limits(timing="price", cache=PromptCache(lifetime_ms=1, read=0.01), floor=3_000)
    bare = Limits(timing="cache", cache=PromptCache(lifetime_ms=1, minimum=0))
    for limits, some, expected in [
        (DEFAULT, pressure(6_000, FOUR), 30_000), (AWARE, pressure(6_000, FOUR), 36_000),
        (AWARE, pressure(1_023), 30_000), (AWARE, pressure(1_024), 36_000),  # too short to be cached, and long enough
        (bare, pressure(), 30_000), (bare, pressure(1), 36_000),
        (PRICED, pressure(2_000, messages=0), 21_000),
        (Limits(timing="cache", cache=PromptCache()), pressure(6_000, FOUR), 30_000),  # no cache at all
        (blocked, pressure(6_000, FOUR), 30_000),
        (PRICED, pressure(6_000, FOUR, messages=2), 15_000),  # 714 tokens a message: a step of about 10,000
        (PRICED, pressure(6_000, [chunk("c1", 24_000, messages=2)], messages=2), 33_000),  # 7,500: of about 32,000
        (PRICED, pressure(6_000, FOUR, messages=300), 15_000),  # never below half of T
        (cheap, pressure(6_000, FOUR), 27_000),
        (PRICED, pressure(1_000, [chunk("c1", 24_000, messages=1)], messages=0), 36_000),  # never above block_after
    ]:  # fmt: skip
        assert due_from(some, limits) == expected, (limits, some)


def test_a_window_at_the_threshold_waits_while_the_cache_is_warm_and_goes_once_it_is_cold():
    chunks = [*FOUR[:3], chunk("c4", 7_000)]
    warm = pressure(5_000, chunks, cached_at=NOW - 5 * MINUTE + 1, last_at={"t": NOW - 5 * MINUTE + 1})
    assert decide(warm, AWARE, NOW).kind == "rest"
    assert (cold_at(warm, AWARE), deadline(warm, AWARE, NOW)) == (NOW + 1, NOW + 1)
    assert decide(warm, AWARE, NOW + 1) == Move("activate", ("c1", "c2", "c3", "c4"))
    for u, sizes, expected in [  # what leaves for free leaves the floor raw
        (500, [6_000], 0), (3_000, [6_000], 1), (2_000, [6_000, 6_000], 1), (3_000, [6_000, 6_000], 2),
        (0, [29_500], 0), (500, [29_500], 1), (1_500, [30_000, 5_500], 2),  # at T, and at block_after, as always
    ]:  # fmt: skip
        cold = pressure(u, [chunk(f"c{n}", size) for n, size in enumerate(sizes, 1)], cached_at=NOW - 6 * MINUTE)
        assert len(activation(cold, AWARE, NOW)) == expected, (u, sizes)


def test_a_context_for_another_model_finds_nothing_cached():
    other = pressure(3_000, [chunk("c1")], cached_at=NOW, other_model=True)
    assert is_cold(other, AWARE, NOW)
    assert not is_cold(other, DEFAULT, NOW)
    assert not is_cold(other, Limits(cache=CLAUDE), NOW)
    assert cold_at(pressure(3_000, [chunk("c1")]), AWARE) is None
    assert cold_at(other, DEFAULT) is None
    assert not is_cold(pressure(6_000, FOUR), AWARE, NOW)  # nothing is known of it
    assert decide(other, AWARE, NOW) == Move("activate", ("c1",))


@given(pressures(), st.sampled_from([AWARE, PRICED]), st.integers(0, 20 * MINUTE), st.booleans())
def test_the_cache_decides_only_when_and_nothing_waits_for_one_that_is_cold(some, limits, pause, other):
    """Only what is eligible goes; at block_after, and once the cache is cold, what was due by the thresholds goes."""
    seen = msgspec.structs.replace(some, cached_at=NOW - pause, other_model=other)
    chosen, plain = ids(activation(seen, limits, NOW)), msgspec.structs.replace(limits, timing="threshold")
    full, at = some.u + some.b >= limits.block_after, cold_at(msgspec.structs.replace(seen, other_model=False), limits)
    assert set(chosen) <= set(ids(eligible(some, 0 if full else limits.min_recent_messages)))
    if full:
        assert chosen == ids(activation(some, plain, NOW))
    cold = msgspec.structs.replace(some, cached_at=NOW - pause - limits.cache.lifetime_ms)
    assert not activation(some, plain, NOW) or activation(cold, limits, NOW)
    assert at is None or decide(msgspec.structs.replace(seen, other_model=False), limits, at).kind == "activate"


def test_reflection_is_drafted_at_half_drained_and_due_at_the_threshold():
    raw = {"t": (900, 9)}
    for tokens, count, unsealed, limits, drafted, expected in [
        (19_999, 3, {}, DEFAULT, False, "rest"), (20_000, 3, {}, DEFAULT, False, "draft"),
        (20_000, 3, {}, DEFAULT, True, "rest"), (40_000, 3, {}, DEFAULT, True, "reflect"),
        (40_000, 3, raw, DEFAULT, True, "drain"), (47_999, 3, raw, DEFAULT, True, "drain"),
        (48_000, 3, raw, DEFAULT, False, "reflect"), (48_000, 3, {}, DEFAULT, True, "reflect"),
        (40_000, 3, raw, Limits(drain=False), True, "reflect"),
        (1, 1, {}, DEFAULT, True, "rest"), (1, 999, {}, DEFAULT, True, "rest"),
        (1, 1_000, {}, DEFAULT, True, "reflect"), (0, 1_000, {}, DEFAULT, False, "reflect"),
        # while the cache is warm a draft is committed with the activation that leads near the threshold
        (36_000, 3, raw, AWARE, True, "reflect"), (35_999, 3, raw, AWARE, True, "rest"),
        (36_000, 3, raw, AWARE, False, "draft"), (36_000, 3, raw, DEFAULT, True, "rest"),
    ]:  # fmt: skip
        some = Pressure(unsealed=unsealed, observation_tokens=tokens, observation_count=count)
        row = (tokens, count, unsealed, limits.timing, drafted)
        assert reflection(some, limits, drafted=drafted, forced=False) == expected, row


def test_reflection_of_a_paused_disabled_or_read_only_memory_is_not_due():
    due = {"observation_tokens": 48_000, "observation_count": 3}
    for changed, limits, forced, expected in [
        ({"observation_count": 0}, {}, True, "rest"), ({}, {"enabled": False}, True, "rest"),
        ({}, {"read_only": True}, True, "rest"), ({"paused": True}, {}, False, "rest"),
        ({"paused": True}, {}, True, "reflect"), ({"observation_tokens": 1}, {}, True, "reflect"),
    ]:  # fmt: skip
        some = Pressure(**{**due, **changed})
        assert reflection(some, Limits(**limits), drafted=True, forced=forced) == expected, (changed, limits, forced)
    assert reflection(Pressure(), DEFAULT, drafted=False, forced=True) == "rest"


def test_reviewed_is_what_becomes_of_a_draft_that_was_put_up_for_review():
    for expires_at, asks, count, expected in [
        (NOW + 1, True, 3, "rest"), (NOW, True, 3, "reflect"), (NOW + 1, False, 3, "reflect"), (0, True, 3, "again"),
        (NOW, True, 0, "rest"),
    ]:  # fmt: skip
        some, row = Pressure(observation_count=count), (expires_at, asks, count)
        assert reviewed(some, DEFAULT, expires_at, NOW, asks=asks, forced=False) == expected, row


def test_drained_is_a_scope_in_which_nothing_is_left_that_may_be_activated():
    for fields, expected in [
        ({}, True), ({"unsealed": {"t": (9, 2)}}, True), ({"unsealed": {"t": (9, 2), "u": (9, 3)}}, False),
        ({"chunks": [chunk("c1", messages=1)]}, False),
        ({"chunks": [chunk("c1", messages=1)], "drain": 1.0}, True),  # min_recent_messages keeps it raw
        ({"chunks": [chunk("c1", messages=2), chunk("c2", messages=2)], "drain": 1.0}, False),
        ({"chunks": [chunk("c1", messages=1, ready=False)], "drain": 1.0}, False),
        ({"chunks": [chunk("c2", messages=9)], "drain": 1.0}, True),  # sealed later
    ]:  # fmt: skip
        assert drained(Pressure(**fields), DEFAULT) is expected, fields
    for name, expected in (("c3", "drain"), ("c4", "reflect")):
        chunks = [chunk(name, 10, ready=False)]
        waiting = Pressure(chunks=chunks, observation_tokens=40_000, observation_count=1, drain=3)
        assert reflection(waiting, DEFAULT, drafted=False, forced=False) == expected, name


def test_a_draft_covers_the_oldest_observations_that_fit_and_at_least_one():
    assert [oldest_prefix([10, 10, 10], about) for about in (5, 20, 25, 30)] == [1, 2, 2, 3]


def test_is_full_is_where_the_reflector_would_do_something():
    """Breaks when the two disagree: a scope would be looked at again and again, or by nobody."""
    for limits in (DEFAULT, AWARE):
        for tokens in (0, 19_999, 20_000, 35_999, 36_000, 39_999, 40_000, 48_000):
            for count, drafted in ((1, False), (1, True), (999, False), (999, True), (1_000, False), (1_000, True)):
                some = Pressure(observation_tokens=tokens, observation_count=count)
                does = reflection(some, limits, drafted=drafted, forced=False)
                assert is_full(tokens, count, limits, drafted=drafted) is (does != "rest"), (tokens, count, drafted)
