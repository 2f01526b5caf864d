"""What is measured of a memory message by message."""

from __future__ import annotations

from statistics import mean

from benches import PLANTED

from om_api.domain.tokens import counter
from om_bench.harness.pipeline import RECOMMENDED
from om_bench.harness.talks import Talk
from om_bench.memory.quality import online
from om_bench.memory.recall import read_told


def test_a_prompt_cache_serves_almost_all_of_what_is_read_call_after_call():
    talk = Talk("planted", tuple(read_told(PLANTED[1], "told")), ())
    found = online([talk], counter(), ("message_threshold=3000", *RECOMMENDED))

    assert mean(found.prefix_share) >= 0.97
    assert mean(found.phi) <= 1.4
    assert mean(found.window_phi) > 5 * mean(found.phi)
    assert 5 <= mean(found.compression) <= 40
