from hypothesis import given, settings
from hypothesis import strategies as st

from om_api.domain.chunking import RawMessage, cut, plan, sealable
from om_api.domain.policy import Limits, Move, buffer_size

DEFAULT = Limits()
NOW = 1_800_000_000_000


def turns(*sizes):
    return [RawMessage(size, NOW) for size in sizes]


def test_cut_is_even_and_at_message_boundaries():
    some = turns(*[200] * 200)
    sizes = [sum(turn.tokens for turn in some[a:b]) for a, b in cut(some, range(1, 201), 40_000, 6_000)]
    assert len(sizes) == 7
    assert min(sizes) >= 5_400
    assert max(sizes) <= 6_600
    assert sum(sizes) == 40_000
    assert cut(turns(10, 10), [1, 2], 15, 6_000) == [(0, 2)]


@given(st.integers(6_000, 80_000), st.integers(20, 200), st.integers(0, 18_000))
def test_chunks_are_near_b_whatever_the_backlog(u, size, sealed):
    some = turns(*[size] * (u // size))
    take = buffer_size(sum(turn.tokens for turn in some), sealed, DEFAULT, 30_000)
    sizes = [sum(turn.tokens for turn in some[a:b]) for a, b in cut(some, range(1, len(some) + 1), take, 6_000) if take]
    assert all(5_400 <= tokens <= 6_600 for tokens in sizes) or take < 6_000


def test_cut_takes_a_step_for_each_message_whatever_tokens_it_states():
    turns = [RawMessage(10_000_000, at) for at in range(5_000)]
    assert len(cut(turns, range(1, 5_001), 50_000_000_000, 6_000)) == 5_000


def test_sealable_never_parts_a_call_from_its_result():
    some = [
        RawMessage(100, NOW), RawMessage(100, NOW, frozenset({"a"})), RawMessage(100, NOW),
        RawMessage(100, NOW, answers=frozenset({"a"})), RawMessage(1, NOW),
    ]  # fmt: skip
    assert sealable(some, DEFAULT, NOW) == [1, 4, 5]
    open_call = [RawMessage(100, NOW), RawMessage(100, NOW, frozenset({"a"})), RawMessage(100, NOW)]
    followed = [*open_call, RawMessage(6000, NOW)]
    assert sealable(open_call, DEFAULT, NOW) == [1]
    assert sealable(open_call, DEFAULT, NOW + 3_600_000) == [1, 2, 3]
    assert sealable(followed, DEFAULT, NOW) == [1, 2, 3, 4]

    def followed(tokens):
        return sealable([RawMessage(100, NOW, frozenset({"a"})), RawMessage(tokens, NOW)], DEFAULT, NOW)

    assert (followed(5_999), followed(6_000)) == ([], [1, 2])
    assert sealable([RawMessage(100, NOW, answers=frozenset({"gone"}))], DEFAULT, NOW) == [1]
    assert sealable(open_call, DEFAULT, NOW + 3_600_000, unread=1) == [1]  # its result may come behind what was read


def test_sealable_waits_for_each_call_of_a_turn_and_plan_of_named_threads_cuts_those_and_no_other():
    called = RawMessage(100, NOW, frozenset({"a", "b"}))
    assert sealable([called, RawMessage(100, NOW, answers=frozenset({"a"}))], DEFAULT, NOW) == []
    assert sealable([called._replace(answers=frozenset({"a", "b"}))], DEFAULT, NOW) == [1]
    called = RawMessage(100, NOW, frozenset({"a", "b"}))
    answers = [RawMessage(100, NOW, answers=frozenset({name})) for name in "ab"]
    assert sealable([called, *answers], DEFAULT, NOW) == [3]
    # Catches a plan that looks for the first message of a thread that has none: everything of it was malformed.
    threads = {"none": [], "some": [RawMessage(100, NOW)]}
    assert plan(threads, Move("seal", threads=("none", "some")), DEFAULT, NOW) == [("some", 0, 1)]
    assert plan({"t": turns(0, 0)}, Move("seal", threads=("t",)), DEFAULT, NOW) == [("t", 0, 2)]
    threads = {"named": [RawMessage(100, NOW)] * 4, "other": [RawMessage(100, NOW)] * 4}
    assert plan(threads, Move("seal", threads=("named",), keep=1), DEFAULT, NOW) == [("named", 0, 3)]


def test_plan_seals_the_oldest_thread_first_and_no_small_remainder():
    threads = {"new": [RawMessage(100, NOW)] * 40, "old": [RawMessage(100, NOW - 5)] * 40}
    assert plan(threads, Move("seal", tokens=7000), DEFAULT, NOW) == [("old", 0, 40), ("new", 0, 30)]
    assert plan(threads, Move("seal", tokens=6000), DEFAULT, NOW) == [("old", 0, 40)]
    assert plan(threads, Move("seal", tokens=7000, most=1), DEFAULT, NOW) == [("old", 0, 40)]
    assert plan(threads, Move("seal", threads=("new",), keep=9), DEFAULT, NOW, {"new": 4}) == [("new", 0, 35)]


_calls = st.sampled_from(["a", "b", "c"])


@st.composite
def histories(draw):
    open_calls, found = set(), []
    for _ in range(draw(st.integers(1, 40))):
        calls, answers = frozenset(), frozenset()
        if draw(st.booleans()):
            calls = frozenset({draw(_calls)}) - open_calls
            open_calls |= calls
        elif open_calls:
            answers = frozenset({draw(st.sampled_from(sorted(open_calls)))})
            open_calls -= answers
        found.append(
            RawMessage(draw(st.integers(0, 3000)), NOW, frozenset(f"{c}{len(found)}" for c in ()) | calls, answers)
        )
    return found


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(["x", "y", "z"]), histories(), min_size=1), st.integers(1, 60_000),
       st.integers(0, 3))  # fmt: skip
def test_planned_chunks_partition_a_prefix_and_part_no_call_from_its_result(threads, tokens, keep):
    for move in (Move("seal", tokens=tokens), Move("seal", threads=tuple(threads), keep=keep)):
        ends = dict.fromkeys(threads, 0)
        for thread, start, stop in plan(threads, move, DEFAULT, NOW):
            assert start == ends[thread]
            assert start < stop <= len(threads[thread]) - move.keep
            ends[thread] = stop
            assert stop in sealable(threads[thread], DEFAULT, NOW)
