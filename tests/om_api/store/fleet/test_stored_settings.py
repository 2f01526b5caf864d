"""Settings in the store are read in bounds, whatever stands there, and of two who change one the second is told."""

import threading

import pytest
from scene import call
from stores import Store

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.settings.stored_layers import StoredTexts
from om_api.store.fleet import stored_settings
from om_api.store.fleet.acl import agent
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

TEXT = "observational_memory: {ttl_days: 3}"


@pytest.fixture
def server_store(server_client, prefix):
    """A store on a real server."""
    return Store(Keys(prefix), ServerClock(), server_client)


def read(store, known=StoredTexts()):  # noqa: B008  unchangeable
    return store.run(stored_settings.read(store.keys, known))


def keep(store, name, was, text):
    return store.run(stored_settings.keep(store.keys, name, was and was.encode(), text))


def test_what_is_kept_is_read_and_what_is_known_is_not_sent_again(store):
    assert read(store) == StoredTexts()
    assert keep(store, "harold", None, TEXT)
    assert keep(store, "worker-*", None, "# é")
    found = read(store)

    assert found.texts == {"harold": TEXT.encode(), "worker-*": "# é".encode()}
    assert read(store, found) == found


def test_what_is_known_is_told_by_a_digest_alone(server_store):
    keep(server_store, "harold", None, TEXT)
    known = read(server_store)
    args = [known.digest, stored_settings.MOST, stored_settings.MOST_BYTES]

    assert len(known.digest) == 40
    assert call(server_store, "settings", [server_store.keys.settings], args) == [known.digest.encode()]
    assert read(server_store, known) is known


def test_every_change_is_seen_by_whomever_it_was_made(store):
    keep(store, "harold", None, TEXT)
    before = read(store)
    store.client.hset(store.keys.settings, "harold", "# by hand")
    by_hand = read(store, before)
    store.client.hset(store.keys.settings, "other", "")

    assert by_hand.texts == {"harold": b"# by hand"}
    assert read(store, by_hand).texts == {"harold": b"# by hand", "other": b""}


def test_the_last_one_that_goes_leaves_nothing(store):
    keep(store, "harold", None, TEXT)
    before = read(store)
    gone = keep(store, "harold", TEXT, None)

    assert (gone, read(store, before), store.client.exists(store.keys.settings)) == (True, StoredTexts(), 0)


def test_what_was_changed_since_it_was_read_stays(store):
    keep(store, "harold", None, TEXT)
    late = [keep(store, "harold", was, "# late") for was in (None, "other")]

    assert late == [False, False]
    assert read(store).texts == {"harold": TEXT.encode()}


def test_of_many_who_change_one_at_once_one_is_first(store):
    at_once, done = threading.Barrier(8), {}

    def go(n):
        at_once.wait(30)
        done[n] = keep(store, "harold", None, f"# {n}")

    threads = [threading.Thread(target=go, args=(n,)) for n in range(8)]
    [each.start() for each in threads]
    [each.join(30) for each in threads]
    (winner,) = [n for n, kept in done.items() if kept]

    assert read(store).texts == {"harold": f"# {winner}".encode()}


def test_there_is_an_end_to_them_and_those_there_are_can_be_changed(store, monkeypatch):
    monkeypatch.setattr(stored_settings, "MOST", 2)
    assert keep(store, "a", None, TEXT)
    assert keep(store, "b", None, TEXT)
    with pytest.raises(InvalidInputError, match="take one out first"):
        keep(store, "c", None, TEXT)

    assert keep(store, "b", TEXT, "# other")


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda client, key: client.set(key, "x"), "is a string and no hash"),
        (lambda client, key: client.zadd(key, {"x": 1}), "is a zset and no hash"),
        (lambda client, key: client.hset(key, mapping={f"a-{n}": "x" for n in range(1_001)}), "holds 1001 entries"),
        (lambda client, key: client.hset(key, "a", "x" * (4 * 2**20)), "holds 4194305 bytes"),
    ],
)
def test_more_than_is_ours_is_not_read_and_said(store, write, says):
    keep(store, "harold", None, TEXT)
    known = read(store)
    store.client.delete(store.keys.settings)
    write(store.client, store.keys.settings)
    found = read(store, known)
    store.client.delete(store.keys.settings)

    assert says in found.mistake
    assert "redis-cli" in found.mistake
    assert (found.texts, read(store, found)) == ({}, StoredTexts())


def test_names_and_texts_that_are_no_text_come_as_they_are(store):
    store.client.hset(store.keys.settings, b"\xff\x00", b"\xfe")

    assert read(store).texts == {"�\x00": b"\xfe"}


@pytest.mark.parametrize("role", [Role.READER, Role.WRITER])
def test_no_rule_of_an_agents_user_names_them(store, role):
    rules = " ".join(agent(store.keys, "harold", role).rules)

    assert store.keys.settings not in rules
    assert f"{store.keys.prefix}:*" not in rules
