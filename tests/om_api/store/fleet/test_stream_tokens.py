"""Tokens for the stream of events: short-lived, kept as hashes, and as good as the key behind them."""

from om_api.domain.api_keys import Proof
from om_api.store.fleet import stream_tokens

PROOF = Proof("0123456789ab", "f" * 64)


def test_a_token_says_whose_it_is(store):
    token = store.run(stream_tokens.create(store.keys, PROOF))

    assert store.run(stream_tokens.proof_of(store.keys, token)) == PROOF
    assert [store.run(stream_tokens.proof_of(store.keys, text)) for text in ("", "oms_x", f"{token}x")] == [None] * 3


def test_a_token_is_kept_nowhere_and_not_for_long(store):
    token = store.run(stream_tokens.create(store.keys, PROOF))
    (name,) = store.client.scan_iter(f"{store.keys.prefix}*")

    assert token not in name.decode()
    assert token not in store.client.get(name).decode()
    assert 0 < store.client.ttl(name) <= stream_tokens.LASTS_S


def test_no_two_tokens_are_equal(store):
    tokens = {store.run(stream_tokens.create(store.keys, PROOF)) for _ in range(20)}

    assert len(tokens) == 20
