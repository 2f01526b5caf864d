"""The weights are those of the operations guide, which a test of that page measures."""

from pages import ROOT

from om_bench.fleet import weights
from om_bench.fleet.weights import memory_bytes

PAGE = (ROOT / "docs/operations.md").read_text()


def test_the_weights_are_those_that_the_operations_guide_says():
    said = {
        "a raw message of 300 characters": weights.RAW,
        "its id, as long as anything of it is kept": weights.KNOWN,
        "the same message behind an observation, until `ttl_days` are over": weights.BEHIND,
        "an agent with one message": weights.AGENT,
        "a scope in a due index": weights.DUE,
    }

    assert [what for what, size in said.items() if f"| {what} | {size:,} B |" not in PAGE] == []


def test_a_longer_message_takes_as_much_more_wherever_it_stands():
    longer, plain = (memory_bytes(agents=1, raw=10, behind=20, note_tokens=5, length=length) for length in (400, 300))

    assert longer - plain == 30 * 100


def test_what_is_in_force_and_what_is_behind_it_add_up():
    now = memory_bytes(agents=7, raw=10, behind=0, note_tokens=5)
    past = memory_bytes(agents=0, raw=0, behind=20, note_tokens=0)

    assert now + past == memory_bytes(agents=7, raw=10, behind=20, note_tokens=5)
