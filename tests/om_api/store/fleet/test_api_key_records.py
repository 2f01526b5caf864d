"""API keys at rest: what is kept, who is recognised, what revoking and rotating do whatever comes between."""

import asyncio

import pytest

from om_api import InvalidInputError
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.connection import Connection
from om_api.store.fleet import api_key_records
from om_api.store.memory.keys import Keys


def _kept(store):
    return b" ".join(store.client.hvals(store.keys.api_keys)).decode()


def test_a_token_is_recognised_as_its_key_and_its_secret_is_kept_nowhere(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold", "albert"], "writer"))

    assert store.run(api_key_records.recognise(store.keys, str(token))) == key
    assert (key.resources, key.role) == (("albert", "harold"), "writer")
    assert token.secret not in _kept(store)
    assert token.secret[:20] not in repr(key)


@pytest.mark.parametrize("change", ["", "om_", "{}x", "x{}", " {}", "other id", "other secret", "\ud800", "om_ï"])
def test_nothing_but_the_token_itself_is_recognised(store, change):
    _, token = store.run(api_key_records.create(store.keys, ["harold"], "writer"))
    _, other = store.run(api_key_records.create(store.keys, ["albert"], "operator"))
    mixed = {"other id": token._replace(id=other.id), "other secret": token._replace(secret=other.secret)}

    given = str(mixed.get(change, "")) or change.format(token)
    assert store.run(api_key_records.recognise(store.keys, given)) is None


def test_a_revoked_key_is_nobodys(store):
    key, token = store.run(api_key_records.create(store.keys, ["harold"], "reader"))

    assert store.run(api_key_records.revoke(store.keys, key.id)) == "cleared"
    assert store.run(api_key_records.revoke(store.keys, key.id)) == "superseded"
    assert store.run(api_key_records.recognise(store.keys, str(token))) is None
    assert store.run(api_key_records.every(store.keys)) == []


@pytest.mark.parametrize(("grace", "known"), [(0, False), (60, True)])
def test_a_rotated_key_has_a_new_token_and_the_old_one_for_as_long_as_was_said(store, grace, known):
    key, old = store.run(api_key_records.create(store.keys, ["harold"], "reader"))

    new = store.run(api_key_records.rotate(store.keys, key.id, grace))

    assert store.run(api_key_records.recognise(store.keys, str(new))).id == key.id
    assert (store.run(api_key_records.recognise(store.keys, str(old))) is not None) == known
    assert new.secret not in _kept(store)


def test_another_rotation_ends_both_tokens_before_it(store):
    key, old = store.run(api_key_records.create(store.keys, ["*"], "operator"))
    tokens = [old, *(store.run(api_key_records.rotate(store.keys, key.id, grace)) for grace in (60, 0))]

    known = [store.run(api_key_records.recognise(store.keys, str(token))) is not None for token in tokens]
    assert known == [False, False, True]


def test_many_who_come_at_once_are_recognised_each_as_itself(server_client, server_url, prefix):
    keys = Keys(prefix)

    async def session():
        connection = AsyncConnection(open_async_client(server_url))
        made = [await connection.run(api_key_records.create(keys, [f"r-{n}"], "writer")) for n in range(10)]
        tokens = [str(token) for _, token in made] + ["om_0123456789ab_" + "x" * 43]
        found = await asyncio.gather(*(connection.run(api_key_records.recognise(keys, token)) for token in tokens))
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

    assert [key.fits("a", now) for now in (999, 1_000)] == [True, False]
    assert key.fits("b", 1_000)


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
    from om_api.store.audit.verify import verify

    store.run(api_key_records.create(store.keys, ["*"], "operator"))

    assert store.run(verify(store.keys)) == []
