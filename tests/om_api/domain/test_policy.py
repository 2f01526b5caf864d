import msgspec
import pytest
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
    due_from,
    eligible,
    is_cold,
    is_full,
    oldest_prefix,
    reflection,
    select,
    threshold,
    wake,
)
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.domain.values import Chunk

DEFAULT = Limits()
NOW = 1_800_000_000_000


def chunk(name, tokens, *, thread="t", ready=True, messages=10, seq=None):
    return Chunk(id=name, thread=thread, seq=seq or float(name[1:]), tokens=tokens, messages=messages, ready=ready)


def pressure(u=0, chunks=(), messages=10, **rest):
    return Pressure(unsealed={"t": (u, messages)} if u else {}, chunks=chunks, **rest)


# The worked examples of the best known implementation: chunk sizes, ratio or floor in tokens, T, window, force -> how many.
@pytest.mark.parametrize(
    ("sizes", "keep", "window", "force", "expected"),
    [
        ([6000] * 4, 0.8, 30000, False, 4),
        ([6000] * 5, 0.8, 30000, False, 4),
        ([6000] * 3, 0.8, 30000, False, 3),
        ([10000] * 3, 0.8, 30000, False, 2),
        ([29500], 0.8, 30000, False, 1),
        ([30000], 0.8, 30000, False, 1),
        ([29500], 0.8, 37000, False, 1),
        ([14000, 15900], 0.8, 30000, False, 1),
        ([14000, 15900], 0.8, 36000, True, 2),
        ([12000, 17000], 0.8, 30000, False, 2),
        ([12000, 17500], 0.8, 30000, False, 1),
        ([6000] * 4, 1.0, 30000, False, 4),
        ([6000] * 5, 1.0, 30000, False, 5),
        ([6000] * 4, 4000, 30000, False, 4),
        ([6000] * 5, 4000, 31000, False, 5),
        ([2000], 0.8, 30000, False, 1),
    ],
)
def test_a_selection_leaves_about_the_floor(sizes, keep, window, force, expected):
    floor = keep if keep >= 1000 else round(30000 * (1 - keep))

    assert expected == select(sizes, floor, window, force=force)


def test_nothing_is_selected_when_nothing_is_ready():
    assert select([], 6000, 60000) == 0


# The same source's trigger vectors: the window, and how much of it the last buffering had reached.
@pytest.mark.parametrize(
    ("window", "sealed", "expected"),
    [
        (5999, 0, False),
        (6000, 0, True),
        (11999, 6000, False),
        (12000, 6000, True),
        (23399, 18000, False),
        (23400, 18000, True),
        (26999, 24000, False),
        (27000, 24000, True),
        (29999, 27000, False),
    ],
)
def test_a_buffer_is_due_every_b_and_every_half_b_near_the_threshold(window, sealed, expected):
    assert expected == buffer_due(window - sealed, sealed, DEFAULT, 30000)


@pytest.mark.parametrize(
    ("u", "b", "expected"),
    [
        (5999, 0, 0),
        (6000, 0, 6000),
        (6200, 0, 6200),  # even chunks of about b: one of 6,200
        (6500, 0, 6000),
        (16_400, 0, 12_000),  # three of 5,467 would be too far from b
        (14000, 0, 12000),
        (40000, 0, 40000),  # seven of 5,714
        (5400, 18000, 5400),
        (3000, 23400, 0),  # would leave 3,600 at T, four chunks leave 6,600: nearer to the floor
        (6000, 23400, 0),
        (6600, 23400, 6000),  # the window is full
        (3000, 27000, 3000),
    ],
)
def test_what_is_sealed_brings_the_window_nearer_to_the_floor(u, b, expected):
    assert expected == buffer_size(u, b, DEFAULT, 30000)


@given(st.integers(0, 2_999), st.integers(0, 60_000))
def test_less_than_half_a_chunk_is_never_sealed_for_its_size(u, sealed):
    assert buffer_size(u, sealed, DEFAULT, 30_000) == 0


@pytest.mark.parametrize(("slow", "made"), [(0, 4), (3, 4), (100, 5)])
def test_chunks_are_the_same_however_long_the_observer_takes(slow, made):
    """Steps of 1,000 tokens; a chunk is ready `slow` steps after it was sealed."""
    u, chunks = 0, []
    for step in range(30):
        u += 1000
        held = [chunk(f"c{n}", size, ready=step - at >= slow) for n, (size, at) in enumerate(chunks, 1)]
        move = decide(pressure(u, held), DEFAULT, NOW)
        if move.kind == "seal":
            chunks.append((move.tokens, step))
            u -= move.tokens

    assert [size for size, _ in chunks] == [6000] * made  # with none ready at T, what is left is sealed as well


@pytest.mark.parametrize(
    ("u", "sealed", "expected"),
    [(0, 0, 6000), (0, 12000, 6000), (0, 18000, 5400), (0, 23400, 6600), (0, 29900, 100), (0, 40000, 1)],
)
def test_a_push_is_due_where_the_next_move_is(u, sealed, expected):
    chunks = (chunk("c1", sealed),) if sealed else ()

    assert expected == wake(pressure(u, chunks), DEFAULT)


@given(st.integers(0, 60_000), st.integers(0, 60_000))
def test_no_move_is_due_below_the_wake(u, sealed):
    chunks = (chunk("c1", sealed, ready=False),) if sealed else ()
    point = wake(pressure(u, chunks), DEFAULT)

    assert u >= point or buffer_size(u, sealed, DEFAULT, 30000) == 0
    assert u == 0 or u + sealed < 30000 or u >= point


def test_a_shared_budget_gives_messages_what_observations_leave():
    shared = Limits(share_token_budget=True)

    assert [threshold(shared, tokens) for tokens in (0, 10_000, 40_000, 90_000)] == [70_000, 60_000, 30_000, 30_000]


def test_the_window_is_emptied_to_the_floor_at_the_threshold():
    chunks = [chunk(f"c{n}", 6000) for n in range(1, 5)]

    assert Move("activate", ("c1", "c2", "c3", "c4")) == decide(pressure(6000, chunks), DEFAULT, NOW)
    assert decide(pressure(5999, chunks), DEFAULT, NOW).kind == "rest"


BURST = [chunk(f"c{n}", 6000, ready=n < 3) for n in range(1, 5)]  # of 30,000: two of four are ready


@pytest.mark.parametrize(
    ("full", "expected"),
    [
        (pressure(6_000, BURST), ()),
        (pressure(6_000, [*BURST[:2], chunk("c3", 6000), BURST[3]]), ()),
        (pressure(6_000, [*BURST[:2], chunk("c3", 6000), chunk("c4", 6000)]), ("c1", "c2", "c3", "c4")),
        (pressure(5_900, [*BURST[:2], chunk("c3", 6000), chunk("c4", 6100, ready=False)]), ("c1", "c2", "c3")),
        (pressure(12_000, BURST), ("c1", "c2")),  # at block_after
        (pressure(6_000, BURST, paused=True), ("c1", "c2")),
        (pressure(6_000, BURST, drain=9), ("c1", "c2")),
        (pressure(6_000, BURST, forced={"t": 2}), ("c1", "c2")),
        (pressure(6_000, BURST, last_at={"t": NOW - 3_600_000}), ("c1", "c2")),
    ],
)
def test_what_is_due_at_once_leaves_at_once(full, expected):
    """Breaks when the first chunk of a burst leaves alone, and the prefix changes again for the others."""
    assert tuple(each.id for each in activation(full, DEFAULT, NOW)) == expected


def test_nobody_waits_for_chunks_that_nobody_will_observe():
    assert len(activation(pressure(6_000, BURST), Limits(enabled=False), NOW)) == 2


def test_nobody_waits_for_a_chunk_that_would_leave_its_thread_too_little():
    chunks = [chunk("c1", 24_000), chunk("c2", 500, ready=False, messages=9, thread="other")]
    assert [each.id for each in activation(pressure(6_000, chunks), DEFAULT, NOW)] == ["c1"]


def test_a_chunk_waits_for_an_earlier_unready_one_of_its_thread_only():
    chunks = [chunk("c1", 100, ready=False), chunk("c2", 100), chunk("c3", 100, thread="other")]

    assert [each.id for each in eligible(Pressure(chunks=chunks), 0)] == ["c3"]


def test_a_chunk_waits_while_its_thread_would_keep_too_few_raw_messages():
    chunks = [chunk("c1", 15_000, messages=5), chunk("c2", 15_500, messages=1)]
    near, full = pressure(0, chunks), pressure(6_000, chunks, messages=0)

    assert [each.id for each in eligible(near, 1)] == ["c1"]
    assert eligible(near, 2) == []
    assert [each.id for each in activation(full, DEFAULT, NOW)] == ["c1", "c2"]


def test_a_full_window_with_nothing_ready_is_urgent():
    assert decide(pressure(2000, [chunk("c1", 28_000, ready=False)]), DEFAULT, NOW).urgent


def test_an_idle_scope_is_activated_below_the_threshold_because_its_prompt_cache_is_cold():
    idle = pressure(500, [chunk("c1", 6000)], last_at={"t": NOW - 3_600_000})

    assert Move("activate", ("c1",)) == decide(idle, DEFAULT, NOW)
    assert decide(idle, DEFAULT, NOW - 1).kind == "rest"
    assert deadline(idle, DEFAULT, NOW - 1) == NOW
    assert deadline(idle, DEFAULT, NOW) == NOW + 3_600_000


def test_a_scope_is_asleep_when_its_last_thread_is():
    """Breaks when one quiet thread counts: the context of all would be rewritten while the others' prompt cache is warm."""
    chunks = [chunk("c1", 6000), chunk("c2", 6000, thread="quiet")]
    busy = pressure(500, chunks, last_at={"t": NOW - 1, "quiet": NOW - 9 * 3_600_000})

    assert decide(busy, DEFAULT, NOW) == Move("rest")
    assert deadline(busy, DEFAULT, NOW) == NOW - 1 + 3_600_000


_ready = st.lists(
    st.tuples(st.sampled_from("tuv"), st.integers(1, 6_000), st.integers(1, 5), st.booleans()), max_size=4
)
_raw = st.dictionaries(st.sampled_from("tuv"), st.tuples(st.integers(0, 6_000), st.integers(1, 5)))
_ages = st.lists(st.integers(0, 4 * 3_600_000), min_size=3, max_size=3)


@given(_ready, _raw, _ages)
def test_a_scope_at_rest_is_looked_at_again_only_later(ready, raw, ages):
    """Breaks when a deadline lies in the past: the scope would be claimed, looked at and put back without end."""
    chunks = [chunk(f"c{n + 1}", tokens, thread=t, messages=m, ready=r) for n, (t, tokens, m, r) in enumerate(ready)]
    last_at = {thread: NOW - age for thread, age in zip("tuv", ages, strict=True)}
    here = Pressure(unsealed=raw, chunks=chunks, last_at=last_at)
    again = deadline(here, DEFAULT, NOW)

    assert decide(here, DEFAULT, NOW).kind != "rest" or again is None or again > NOW
    assert again is None or decide(here, DEFAULT, again).kind != "rest"


def test_an_idle_scope_without_chunks_has_nothing_to_activate():
    idle = pressure(500, messages=2, last_at={"t": 0})

    assert decide(idle, DEFAULT, NOW) == Move("rest")


def test_an_idle_thread_is_observed_below_the_threshold_but_for_its_newest_messages():
    idle = pressure(500, last_at={"t": NOW - 3_600_000})

    assert Move("seal", threads=("t",), keep=2) == decide(idle, DEFAULT, NOW)
    assert decide(pressure(500, messages=2, last_at={"t": 0}), DEFAULT, NOW).kind == "rest"


def test_force_seals_everything_and_then_activates_it_without_regard_to_thresholds():
    assert Move("seal", threads=("t",)) == decide(pressure(50, forced={"t": 0}), DEFAULT, NOW)

    ready = pressure(0, [chunk("c1", 50, messages=1)], forced={"t": 1.0})

    assert Move("activate", ("c1",)) == decide(ready, DEFAULT, NOW)


@pytest.mark.parametrize("limits", [Limits(enabled=False), Limits(read_only=True)])
def test_a_disabled_memory_seals_nothing(limits):
    assert decide(pressure(50_000), limits, NOW).kind == "rest"


def test_a_disabled_memory_still_serves_ready_chunks_and_a_read_only_one_changes_nothing():
    full = pressure(6000, [chunk(f"c{n}", 6000) for n in range(1, 5)])

    assert decide(full, Limits(enabled=False), NOW).kind == "activate"
    assert decide(full, Limits(read_only=True), NOW).kind == "rest"


# -- properties of activation


@st.composite
def pressures(draw):
    chunks = [
        Chunk(
            id=f"c{n}",
            thread=draw(st.sampled_from("xy")),
            seq=float(n + 1),
            tokens=draw(st.integers(1, 12_000)),
            messages=draw(st.integers(1, 20)),
            ready=draw(st.booleans()),
        )
        for n in range(draw(st.integers(0, 8)))
    ]
    unsealed = {
        t: (draw(st.integers(0, 20_000)), draw(st.integers(1, 30))) for t in draw(st.sets(st.sampled_from("xy")))
    }
    return Pressure(chunks=chunks, unsealed=unsealed)


@given(pressures())
def test_only_ready_chunks_are_activated_and_never_before_an_earlier_one_of_their_thread(some):
    chosen = {each.id for each in activation(some, DEFAULT, NOW)}

    for each in some.chunks:
        before = [other for other in some.chunks if other.thread == each.thread and other.seq < each.seq]
        assert each.id not in chosen or (each.ready and all(other.id in chosen for other in before))


@given(pressures())
def test_below_the_hard_limit_every_thread_keeps_its_newest_messages(some):
    chosen = {each.id for each in activation(some, DEFAULT, NOW)}
    gone = {t: sum(c.messages for c in some.chunks if c.thread == t and c.id in chosen) for t in "xy"}
    raw = {t: some.unsealed.get(t, (0, 0))[1] + sum(c.messages for c in some.chunks if c.thread == t) for t in "xy"}

    if some.u + some.b < DEFAULT.block_after:
        assert all(not gone[t] or raw[t] - gone[t] >= 2 for t in "xy")


# -- the prompt cache

_MINUTES = 60_000
CLAUDE = PromptCache(lifetime_ms=5 * _MINUTES, minimum=1024, write=1.25, read=0.1)
AWARE = Limits(timing="cache", cache=CLAUDE, floor=3_000)
PRICED = Limits(timing="price", cache=CLAUDE, floor=3_000)
FOUR = [chunk(f"c{n}", 6_000) for n in range(1, 5)]


@pytest.mark.parametrize(
    ("limits", "some", "expected"),
    [
        (DEFAULT, pressure(6_000, FOUR), 30_000),
        (AWARE, pressure(6_000, FOUR), 36_000),
        (AWARE, pressure(900), 30_000),  # too short to be cached
        (Limits(timing="cache", cache=PromptCache()), pressure(6_000, FOUR), 30_000),  # no cache at all
        (
            Limits(timing="cache", cache=CLAUDE, block_after=20_000, message_threshold=30_000),
            pressure(6_000, FOUR),
            30_000,
        ),
        (PRICED, pressure(6_000, FOUR, messages=2), 15_000),  # 714 tokens a message: a step of about 10,000
        (PRICED, pressure(6_000, [chunk("c1", 24_000, messages=2)], messages=2), 33_000),  # 7,500: of about 32,000
        (PRICED, pressure(6_000, FOUR, messages=300), 15_000),  # never below half of T
        (
            Limits(timing="price", cache=PromptCache(lifetime_ms=1, read=0.01), floor=3_000),
            pressure(6_000, FOUR),
            27_000,
        ),
        (PRICED, pressure(1_000, [chunk("c1", 24_000, messages=1)], messages=0), 36_000),  # never above block_after
    ],
)
def test_while_the_cache_is_warm_an_activation_is_due_from_there(limits, some, expected):
    assert expected == due_from(some, limits)


def test_a_window_at_the_threshold_waits_while_the_cache_is_warm_and_goes_once_it_is_cold():
    chunks = [*FOUR[:3], chunk("c4", 7_000)]
    warm = pressure(5_000, chunks, cached_at=NOW - 5 * _MINUTES + 1, last_at={"t": NOW - 5 * _MINUTES + 1})

    assert decide(warm, AWARE, NOW).kind == "rest"
    assert (cold_at(warm, AWARE), deadline(warm, AWARE, NOW)) == (NOW + 1, NOW + 1)
    assert Move("activate", ("c1", "c2", "c3", "c4")) == decide(warm, AWARE, NOW + 1)


@pytest.mark.parametrize(
    ("u", "sizes", "expected"),
    [(500, [6_000], 0), (3_000, [6_000], 1), (2_000, [6_000, 6_000], 1), (3_000, [6_000, 6_000], 2), (0, [29_500], 0)],
)
def test_what_leaves_for_free_leaves_the_floor_raw(u, sizes, expected):
    cold = pressure(u, [chunk(f"c{n}", size) for n, size in enumerate(sizes, 1)], cached_at=NOW - 6 * _MINUTES)

    assert expected == len(activation(cold, AWARE, NOW))


def test_a_context_for_another_model_finds_nothing_cached():
    other = pressure(3_000, [chunk("c1", 6_000)], cached_at=NOW, other_model=True)

    assert is_cold(other, AWARE, NOW)
    assert not is_cold(other, DEFAULT, NOW)
    assert Move("activate", ("c1",)) == decide(other, AWARE, NOW)


def test_nobody_is_cold_of_whom_nothing_is_known():
    assert not is_cold(pressure(6_000, FOUR), AWARE, NOW)


@pytest.mark.parametrize(
    ("limits", "tokens", "drafted", "expected"),
    [
        (AWARE, 36_000, True, "reflect"),
        (AWARE, 35_999, True, "rest"),
        (AWARE, 36_000, False, "draft"),
        (DEFAULT, 36_000, True, "rest"),
    ],
)
def test_a_draft_counts_with_the_activation_that_leads_near_the_threshold(limits, tokens, drafted, expected):
    some = Pressure(unsealed={"t": (900, 9)}, observation_tokens=tokens, observation_count=3)

    assert expected == reflection(some, limits, drafted=drafted, forced=False)
    assert is_full(tokens, 3, limits, drafted=drafted) is (expected != "rest")


_timings = st.sampled_from([AWARE, PRICED])
_pauses = st.integers(0, 20 * _MINUTES)


@given(pressures(), _timings, _pauses, st.booleans())
def test_the_cache_never_decides_what_may_be_activated(some, limits, pause, other):
    """Only what is eligible goes; at block_after the same goes as without heed to it."""
    seen = msgspec.structs.replace(some, cached_at=NOW - pause, other_model=other)
    chosen = [each.id for each in activation(seen, limits, NOW)]
    full = some.u + some.b >= limits.block_after

    assert set(chosen) <= {each.id for each in eligible(some, 0 if full else limits.min_recent_messages)}
    if full:
        plain = msgspec.structs.replace(limits, timing="threshold")
        assert chosen == [each.id for each in activation(some, plain, NOW)]


@given(pressures(), _timings, _pauses)
def test_nothing_waits_for_a_cache_that_is_cold(some, limits, pause):
    """Breaks when what was due by the thresholds stays for good: once the cache is cold it goes."""
    plain = activation(some, msgspec.structs.replace(limits, timing="threshold"), NOW)
    cold = msgspec.structs.replace(some, cached_at=NOW - pause - limits.cache.lifetime_ms)

    assert not plain or activation(cold, limits, NOW)


@given(pressures(), _timings, _pauses)
def test_a_scope_that_waits_for_its_cache_is_looked_at_then(some, limits, pause):
    seen = msgspec.structs.replace(some, cached_at=NOW - pause)
    at = cold_at(seen, limits)

    assert at is None or decide(seen, limits, at).kind == "activate"


# -- reflection


@pytest.mark.parametrize(
    ("tokens", "drafted", "drained", "expected"),
    [
        (19_999, False, True, "rest"),
        (20_000, False, True, "draft"),
        (20_000, True, True, "rest"),
        (40_000, True, True, "reflect"),
        (40_000, True, False, "drain"),
        (48_000, False, False, "reflect"),
    ],
)
def test_a_reflection_is_drafted_at_half_drained_and_committed_at_the_threshold(tokens, drafted, drained, expected):
    raw = {} if drained else {"t": (900, 9)}
    some = Pressure(unsealed=raw, observation_tokens=tokens, observation_count=3)

    assert expected == reflection(some, DEFAULT, drafted=drafted, forced=False)


def test_too_many_observations_force_a_reflection():
    assert reflection(Pressure(observation_count=1000), DEFAULT, drafted=False, forced=False) == "reflect"


def test_a_drain_is_over_when_no_chunk_up_to_it_is_left():
    waiting = Pressure(chunks=[chunk("c3", 10, ready=False)], observation_tokens=40_000, observation_count=1, drain=3)
    later = Pressure(chunks=[chunk("c4", 10, ready=False)], observation_tokens=40_000, observation_count=1, drain=3)

    assert reflection(waiting, DEFAULT, drafted=False, forced=False) == "drain"
    assert reflection(later, DEFAULT, drafted=False, forced=False) == "reflect"


def test_a_draft_covers_the_oldest_observations_that_fit_and_at_least_one():
    assert [oldest_prefix([10, 10, 10], about) for about in (5, 20, 25, 30)] == [1, 2, 2, 3]


@pytest.mark.parametrize("tokens", [0, 19_999, 20_000, 39_999, 40_000, 48_000])
@pytest.mark.parametrize("drafted", [False, True])
@pytest.mark.parametrize("count", [1, 999, 1_000])
def test_what_belongs_in_the_reflect_index_is_what_the_reflector_would_do_something_with(tokens, count, drafted):
    """Breaks when the two disagree: a scope would be looked at again and again, or by nobody."""
    full = Pressure(unsealed={}, chunks=(), observation_tokens=tokens, observation_count=count)
    does = reflection(full, DEFAULT, drafted=drafted, forced=False)

    assert is_full(tokens, count, DEFAULT, drafted=drafted) is (does != "rest")
