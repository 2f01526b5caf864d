from om_bench.speed import working


def test_a_push_is_a_chunk_of_6000_tokens_in_messages_that_were_never_said_before():
    """Catches texts that a worker has counted already: it would remember how many tokens they are."""
    said = [message for _ in range(5) for message in working.said("agent-1")]

    assert sum(message.tokens for message in said) == 5 * 6_000
    assert len({message.content for message in said}) == len(said)
    assert all(300 < len(message.content) < 500 for message in said)
