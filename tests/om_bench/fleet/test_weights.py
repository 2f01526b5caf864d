"""The weights are those of the operations guide, which a test of that page measures."""

from pages import ROOT

from om_bench.fleet import weights

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
