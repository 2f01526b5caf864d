"""The ticks that are measured are those that run in production."""

from world import contents

from om_bench.speed import idling
from om_bench.speed.idling import town


def test_the_ticks_that_are_measured_claim_what_is_due_and_nothing_else():
    with town(4) as some:
        before = some.bare.zscore(some.keys.due_observe, some.names[1])
        assert idling._observe(2)(some) > 0

        scores = [some.bare.zscore(some.keys.due_observe, name) for name in some.names]
        assert 0 < scores[0] < before
        assert scores[1] == before


def _left_by(some, name):
    """Every key of an agent with what it holds, and its scores in the indexes."""
    base = some.keys.of(name).base
    own = {key.decode().replace(name, "*"): held for key, held in contents(some.bare, f"{base}:*").items()}
    return own, [some.bare.zscore(index, name) for index in (some.keys.resources, some.keys.due_observe)]


def test_a_copied_agent_left_what_a_real_one_left_by_a_push_and_a_look():
    with town(3) as some:
        real, copied = (_left_by(some, name) for name in (some.names[0], some.names[2]))

        assert copied == real
        assert {key.rpartition("}:")[2].partition(":")[0] for key in real[0]} == {
            *("known", "messages", "record", "threads", "tokens"),
        }
        assert None not in copied[1]
