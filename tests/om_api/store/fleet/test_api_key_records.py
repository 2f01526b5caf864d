"""API keys at rest: what is kept, who is recognised, what revoking and rotating do whatever comes between."""

import asyncio

import pytest

from om_api import InvalidInputError
from om_api.domain.api_keys import ExpiredKeyError, Token
from om_api.store.audit.verify import verify
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.connection import Connection
from om_api.store.fleet import api_key_records, request_pace
from om_api.store.memory.keys import Keys


def _recognise(keys, text):
    token = Token.parse(text)
    return api_key_records.recognise(keys, token.proof if token else None)


def _kept(store):
    return b" ".join(store.client.hvals(store.keys.api_keys)).decode()


def test_a_token_is_recognised_as_its_key_and_its_secret_is_kept_nowhere(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold", "albert"], "writer"))

    assert store.run(_recognise(store.keys, str(token))) == key
    assert (key.resources, key.role) == (("albert", "harold"), "writer")
    assert token.secret not in _kept(store)
    assert token.secret[:20] not in repr(key)


@pytest.mark.parametrize("change", ["", "om_", "{}x", "x{}", " {}", "other id", "other secret", "\ud800", "om_ï"])
def test_nothing_but_the_token_itself_is_recognised(store, change):
    _, token = store.run(api_key_records.create(store.keys, ["harold"], "writer"))
    _, other = store.run(api_key_records.create(store.keys, ["albert"], "operator"))
    mixed = {"other id": token._replace(id=other.id), "other secret": token._replace(secret=other.secret)}

    given = str(mixed.get(change, "")) or change.format(token)
    assert store.run(_recognise(store.keys, given)) is None


def test_a_revoked_key_is_nobodys(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold"], "reader"))

    assert store.run(api_key_records.revoke(store.keys, key.id)) == "cleared"
    assert store.run(api_key_records.revoke(store.keys, key.id)) == "superseded"
    assert store.run(_recognise(store.keys, str(token))) is None
    assert store.run(api_key_records.every(store.keys)) == []


@pytest.mark.parametrize(("grace", "known"), [(0, False), (60, True)])
def test_a_rotated_key_has_a_new_token_and_the_old_one_for_as_long_as_was_said(store, grace, known):
    key, old = store.run(api_key_records.create(store.keys, ["harold"], "reader"))

    _, new = store.run(api_key_records.rotate(store.keys, key.id, grace))

    assert store.run(_recognise(store.keys, str(new))).id == key.id
    assert (store.run(_recognise(store.keys, str(old))) is not None) == known
    assert new.secret not in _kept(store)


def test_another_rotation_ends_both_tokens_before_it(store):
    key, old = store.run(api_key_records.create(store.keys, ["*"], "operator"))
    tokens = [old, *(store.run(api_key_records.rotate(store.keys, key.id, grace))[1] for grace in (60, 0))]

    known = [store.run(_recognise(store.keys, str(token))) is not None for token in tokens]
    assert known == [False, False, True]


def test_many_who_come_at_once_are_recognised_each_as_itself(server_client, server_url, prefix):
    keys = Keys(prefix)

    async def session():
        connection = AsyncConnection(open_async_client(server_url))
        made = [await connection.run(api_key_records.create(keys, [f"r-{n}"], "writer")) for n in range(10)]
        tokens = [str(token) for _, token in made] + ["om_0123456789ab_" + "x" * 43]
        found = await asyncio.gather(*(connection.run(_recognise(keys, token)) for token in tokens))
        await connection.close()
        return [key for key, _ in made], found

    made, found = asyncio.run(session())
    assert found == [*made, None]
    left = Connection(server_client).run(api_key_records.every(keys))
    assert {key.id for key in left} == {key.id for key in made}


def test_a_grace_ends():
    key = api_key_records.ApiKey(
        id="k", role="reader", resources=("r",), hash=api_key_records.hashed("b"), created_at=0
    )
    key = api_key_records.msgspec.structs.replace(key, previous=api_key_records.hashed("a"), previous_until=1_000)

    a, b = map(api_key_records.hashed, "ab")
    assert [key.fits(a, now) for now in (999, 1_000)] == [True, False]
    assert key.fits(b, 1_000)


def test_what_was_revoked_while_it_was_rotated_stays_revoked(store):
    """Breaks when the new secret is written without a look at what is there by now."""
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    steps = api_key_records.rotate(store.keys, key.id)
    read = store.run(_only(next(steps)))
    store.run(api_key_records.revoke(store.keys, key.id))

    write = steps.send(read)
    look_again = steps.send(store.run(_only(write)))
    with pytest.raises(InvalidInputError, match="om keys list"):
        steps.send(store.run(_only(look_again)))
    assert store.run(api_key_records.every(store.keys)) == []


def _only(step):
    return (yield step)


@pytest.mark.parametrize(("resources", "role"), [([], "reader"), (["a/b"], "reader"), (["harold"], "king")])
def test_a_key_for_nobody_for_no_id_or_for_no_role_is_refused(store, resources, role):
    with pytest.raises(InvalidInputError):
        store.run(api_key_records.create(store.keys, resources, role))
    assert not store.client.exists(store.keys.api_keys)


def test_keys_are_no_breach_of_anything(store):
    key, _ = store.run(api_key_records.create(store.keys, ["*"], "operator", rate="5/m"))
    store.run(api_key_records.use(store.keys, [key.id]))
    store.run(request_pace.take(store.keys, key))

    assert store.run(verify(store.keys)) == []


def _aged(store, key, **changed):
    kept = api_key_records.msgspec.structs.replace(key, **changed)
    store.client.hset(store.keys.api_keys, key.id, api_key_records.msgspec.json.encode(kept))


def test_a_key_that_has_expired_opens_nothing_and_only_the_right_secret_is_told(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold"], "reader", expires_s=3_600))
    lasting = store.run(_recognise(store.keys, str(token)))
    _aged(store, key, expires_at=key.created_at)

    assert lasting == key
    assert key.expires_at == key.created_at + 3_600_000
    with pytest.raises(ExpiredKeyError, match="has expired: om keys create"):
        store.run(_recognise(store.keys, str(token)))
    assert store.run(_recognise(store.keys, str(token._replace(secret="x" * 43)))) is None


def test_a_key_that_has_expired_gets_no_other_token(store):
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader", expires_s=3_600))
    _aged(store, key, expires_at=key.created_at)

    with pytest.raises(InvalidInputError, match="has expired"):
        store.run(api_key_records.rotate(store.keys, key.id))


def test_a_rotated_key_keeps_its_label_its_end_and_its_rate(store):
    given = {"label": "shop", "expires_s": 60, "rate": "5/m"}
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader", **given))
    changed, _ = store.run(api_key_records.rotate(store.keys, key.id))

    assert [changed.label, changed.expires_at, changed.rate] == ["shop", key.expires_at, "5/m"]


def test_a_key_of_before_there_were_labels_is_read(store):
    old = b'{"id":"0123456789ab","role":"reader","resources":["harold"],"hash":"00","created_at":1}'
    store.client.hset(store.keys.api_keys, "0123456789ab", old)
    (key,) = store.run(api_key_records.every(store.keys))

    assert (key.label, key.expires_at, key.rate) == ("", 0, "")


@pytest.mark.parametrize(
    "given", [{"label": "x" * 41}, {"label": "a\nb"}, {"expires_s": 0.5}, {"expires_s": 1e12}, {"rate": "often"}]
)
def test_a_label_an_end_or_a_rate_that_is_none_is_refused(store, given):
    with pytest.raises(InvalidInputError):
        store.run(api_key_records.create(store.keys, ["harold"], "reader", **given))
    assert not store.client.exists(store.keys.api_keys)


def test_when_a_key_was_used_is_known_until_it_is_revoked(store):
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    other, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    store.run(api_key_records.use(store.keys, [key.id]))
    used = store.run(api_key_records.uses(store.keys))
    store.run(api_key_records.revoke(store.keys, key.id))

    assert list(used) == [key.id]
    assert used[key.id] >= key.created_at
    assert store.run(api_key_records.uses(store.keys)) == {}
    assert [each.id for each in store.run(api_key_records.every(store.keys))] == [other.id]


def test_a_use_that_is_told_after_its_key_was_revoked_leaves_nothing(store):
    """Breaks when the note is written without a look at the keys."""
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))
    store.run(api_key_records.revoke(store.keys, key.id))
    store.run(api_key_records.use(store.keys, [key.id]))

    assert not store.client.exists(store.keys.api_keys_used)
