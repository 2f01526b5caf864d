"""API keys, stream tokens and rates: what is kept, who is recognised, and what revoking and rotating do."""

import pytest
from scene import at_step

from om_api import InvalidInputError
from om_api.domain.api_keys import ExpiredKeyError, Proof, Token
from om_api.store.audit.verify import verify
from om_api.store.fleet import api_key_records, request_pace, stream_tokens


def _recognise(keys, text):
    token = Token.parse(text)
    return api_key_records.recognise(keys, token.proof if token else None)


def _kept(store):
    return b" ".join(store.client.hvals(store.keys.api_keys)).decode()


def test_a_token_alone_is_recognised_as_its_key_and_its_secret_is_kept_nowhere(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold", "albert"], "writer"))
    _, other = store.run(api_key_records.create(store.keys, ["albert"], "operator"))

    assert store.run(_recognise(store.keys, str(token))) == key
    assert (key.resources, key.role) == (("albert", "harold"), "writer")
    assert token.secret not in _kept(store)
    assert token.secret[:20] not in repr(key)
    assert store.run(verify(store.keys)) == []
    mixed = [str(token._replace(id=other.id)), str(token._replace(secret=other.secret))]
    for given in ("", "om_", f"{token}x", f"x{token}", f" {token}", "\ud800", "om_ï", *mixed):
        assert store.run(_recognise(store.keys, given)) is None, given
    assert store.run(api_key_records.revoke(store.keys, key.id)) == "cleared"
    assert store.run(api_key_records.revoke(store.keys, key.id)) == "superseded"
    assert store.run(_recognise(store.keys, str(token))) is None
    assert [each.id for each in store.run(api_key_records.every(store.keys))] == [other.id]


def test_a_rotated_key_has_a_new_token_and_the_old_one_for_as_long_as_was_said(store):
    given = {"label": "shop", "expires_s": 6_000, "rate": "5/m"}
    key, old = store.run(api_key_records.create(store.keys, ["harold"], "reader", **given))
    changed, new = store.run(api_key_records.rotate(store.keys, key.id, 60))

    def known():
        found = [store.run(_recognise(store.keys, str(token))) for token in (old, new)]
        return [each and each.id for each in found]

    assert known() == [key.id, key.id]
    assert [changed.label, changed.expires_at, changed.rate] == ["shop", key.expires_at, "5/m"]
    assert new.secret not in _kept(store)
    fits = [changed.fits(api_key_records.hashed(old.secret), changed.previous_until + ms) for ms in (-1, 0)]
    assert fits == [True, False]
    _, newest = store.run(api_key_records.rotate(store.keys, key.id, 0))
    assert known() == [None, None]
    assert store.run(_recognise(store.keys, str(newest))).id == key.id


def test_what_was_revoked_while_it_was_rotated_stays_revoked(store):
    """Breaks when the new secret is written without a look at what is there by now."""
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    steps = api_key_records.rotate(store.keys, key.id)
    with pytest.raises(InvalidInputError, match="om keys list"):
        store.run(at_step(steps, 1, lambda: store.run(api_key_records.revoke(store.keys, key.id))))
    assert store.run(api_key_records.every(store.keys)) == []


def test_a_key_that_cannot_be_is_refused(store):
    for row in (
        {"resources": []},
        {"resources": ["a/b"]},
        {"role": "king"},
        {"label": "a\nb"},
        {"expires_s": 0.5},
        {"expires_s": 1e12},
        {"rate": "often"},
    ):
        with pytest.raises(InvalidInputError):
            store.run(api_key_records.create(store.keys, **{"resources": ["harold"], "role": "reader", **row}))
            pytest.fail(f"{row} is permitted")
    assert not store.client.exists(store.keys.api_keys)


def _aged(store, key, **changed):
    kept = api_key_records.msgspec.structs.replace(key, **changed)
    store.client.hset(store.keys.api_keys, key.id, api_key_records.msgspec.json.encode(kept))


def test_a_key_that_has_expired_opens_nothing_and_only_the_right_secret_is_told(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold"], "reader", expires_s=3_600))
    assert store.run(_recognise(store.keys, str(token))) == key
    assert key.expires_at == key.created_at + 3_600_000
    _aged(store, key, expires_at=key.created_at)

    with pytest.raises(ExpiredKeyError, match="has expired: om keys create"):
        store.run(_recognise(store.keys, str(token)))
    assert store.run(_recognise(store.keys, str(token._replace(secret="x" * 43)))) is None
    with pytest.raises(InvalidInputError, match="has expired"):
        store.run(api_key_records.rotate(store.keys, key.id))


def test_when_a_key_was_used_is_known_until_it_is_revoked(store):
    """Breaks when the note is written without a look at the keys: a use is told after its key was revoked."""
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    other, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    store.run(api_key_records.use(store.keys, [key.id]))
    used = store.run(api_key_records.uses(store.keys))
    store.run(api_key_records.revoke(store.keys, key.id))
    store.run(api_key_records.use(store.keys, [key.id]))

    assert list(used) == [key.id]
    assert used[key.id] >= key.created_at
    assert not store.client.exists(store.keys.api_keys_used)
    assert [each.id for each in store.run(api_key_records.every(store.keys))] == [other.id]


def test_as_many_as_permitted_and_no_more(store):
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader", rate="3/m"))
    waits = [store.run(request_pace.take(store.keys, key)) for _ in range(7)]

    assert waits[:3] == [0, 0, 0]
    assert 0 < waits[3] <= 60
    assert sorted(waits[3:], reverse=True) == waits[3:]  # no longer for having asked
    assert 0 < store.client.pttl(store.keys.paced(key.id)) <= 60_000
    paced = store.keys.paced(key.id)
    assert store.client.llen(paced) == 3
    for n, at in enumerate(store.client.lrange(paced, 0, -1)):  # a minute later
        store.client.lset(paced, n, int(float(at)) - 60_001)
    assert store.run(request_pace.take(store.keys, key)) == 0

    store.client.delete(paced)  # the clock was set back: nobody waits for longer than a window
    store.client.rpush(paced, *[10**15] * 3)
    store.client.pexpire(paced, 60_000)
    assert store.run(request_pace.take(store.keys, key)) == 60


PROOF = Proof("0123456789ab", "f" * 64)


def test_a_token_is_kept_nowhere_and_not_for_long(store):
    token = store.run(stream_tokens.create(store.keys, PROOF))
    (name,) = store.client.scan_iter(f"{store.keys.prefix}*")

    assert store.run(stream_tokens.proof_of(store.keys, token)) == PROOF
    assert [store.run(stream_tokens.proof_of(store.keys, text)) for text in ("", "oms_x", f"{token}x")] == [None] * 3
    assert token not in name.decode()
    assert token not in store.client.get(name).decode()
    assert 0 < store.client.ttl(name) <= stream_tokens.LASTS_S
