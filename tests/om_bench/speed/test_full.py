"""The memory that reading is measured on is as full as it says."""

from om_bench.speed.full import MESSAGES, OBSERVATIONS, THREAD, Full
from om_bench.speed.stand import stand


def test_a_full_memory_has_40k_tokens_of_observations_and_30k_raw_and_turns_come_and_go(private_server_url):
    with stand(private_server_url) as made:
        full = Full(made, "reader")
        full.build()
        held, raw = made.om.stats("reader"), [_raw(made)]
        for _ in range(3):
            full.turn()
        raw.append(_raw(made))
        full.turn_back()
        raw.append(_raw(made))

    assert (held.observation_tokens, held.observations) == (OBSERVATIONS * 798, OBSERVATIONS)
    assert held.message_tokens + held.chunk_tokens == MESSAGES * 99
    assert held.chunks == held.ready_chunks > 0
    assert raw == [MESSAGES, MESSAGES + 3, MESSAGES]


def _raw(stand):
    return sum(block.kind == "message" for block in stand.om.get_context(THREAD, "reader").blocks)
