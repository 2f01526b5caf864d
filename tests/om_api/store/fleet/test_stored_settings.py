"""Settings in the store are read in bounds, whatever stands there, and of two who change one the second is told."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from scene import call

from om_api.domain.errors import QuotaReachedError
from om_api.settings.stored_layers import StoredTexts
from om_api.store.fleet import stored_settings

TEXT = "observational_memory: {ttl_days: 3}"


def read(store, known=StoredTexts()):  # noqa: B008  unchangeable
    return store.run(stored_settings.read(store.keys, known))


def keep(store, name, was, text, by=""):
    return store.run(stored_settings.keep(store.keys, name, was and was.encode(), text, by=by))


def test_what_is_kept_is_read_and_what_is_known_is_not_sent_again(store):
    assert read(store) == StoredTexts()
    assert keep(store, "harold", None, TEXT)
    assert keep(store, "worker-*", None, "# é")
    found = read(store)
    assert found.texts == {"harold": TEXT.encode(), "worker-*": "# é".encode()}
    assert read(store, found) is found
    args = [found.digest, stored_settings.MOST, stored_settings.MOST_BYTES]
    assert call(store, "settings", [store.keys.settings], args) == [found.digest.encode()]

    store.client.hset(store.keys.settings, "harold", "# by hand")
    store.client.hset(store.keys.settings, b"\xff\x00", b"\xfe")
    found = read(store, found)
    assert found.texts == {"harold": b"# by hand", "worker-*": "# é".encode(), "�\x00": b"\xfe"}
    store.client.hdel(store.keys.settings, "worker-*", b"\xff\x00")
    assert keep(store, "harold", "# by hand", None)
    assert (read(store, found), store.client.exists(store.keys.settings)) == (StoredTexts(), 0)


def test_what_was_changed_since_it_was_read_stays_and_of_many_at_once_one_is_first(store):
    keep(store, "ada", None, TEXT)
    assert [keep(store, "ada", was, "# late") for was in (None, "other")] == [False, False]
    for relied_on, kept in (
        ({"ada": b"old"}, False),
        ({"bob": b"x"}, False),
        ({"ada": TEXT.encode(), "bob": b""}, True),
    ):
        change = stored_settings.keep(store.keys, "zoe", None, TEXT, relied_on)
        assert store.run(change) is kept, relied_on
    keep(store, "zoe", TEXT, None)
    at_once = threading.Barrier(8)

    def go(n):
        at_once.wait(30)
        return keep(store, "harold", None, f"# {n}")

    with ThreadPoolExecutor(8) as pool:
        (winner,) = [n for n, kept in enumerate(pool.map(go, range(8))) if kept]
    assert read(store).texts == {"ada": TEXT.encode(), "harold": f"# {winner}".encode()}


def test_there_is_an_end_to_them_and_those_there_are_can_be_changed(store, monkeypatch):
    monkeypatch.setattr(stored_settings, "MOST", 2)
    assert keep(store, "a", None, TEXT)
    assert keep(store, "b", None, TEXT)
    with pytest.raises(QuotaReachedError, match="remove some first"):
        keep(store, "c", None, TEXT)
    monkeypatch.setattr(stored_settings, "MOST_BYTES", 2 * len(f"a{TEXT}"))
    with pytest.raises(QuotaReachedError, match="remove some first"):  # else nobody's would be read any more
        keep(store, "b", TEXT, f"{TEXT} #")

    assert keep(store, "b", TEXT, "# other")


def test_one_key_cannot_take_every_place_or_byte_of_settings(store, monkeypatch):
    monkeypatch.setattr(stored_settings, "MOST_OF_A_KEY", 2)
    monkeypatch.setattr(stored_settings, "MOST_BYTES_OF_A_KEY", 2 * len(f"a{TEXT}") + 2)
    assert keep(store, "a", None, TEXT, "k1")
    assert keep(store, "b", None, TEXT, "k1")
    for name, was, text in (("c", None, "#"), ("b", TEXT, f"{TEXT} ###")):
        with pytest.raises(QuotaReachedError, match="of this key"):
            keep(store, name, was, text, "k1")
    assert keep(store, "c", None, TEXT)  # the command line has no key
    assert keep(store, "d", None, TEXT, "k2")
    with pytest.raises(QuotaReachedError, match="of this key"):
        keep(store, "d", TEXT, "#", "k1")
    assert keep(store, "b", TEXT, "# other", "k1")
    assert keep(store, "a", TEXT, None, "k1")
    assert keep(store, "e", None, TEXT, "k1")
    for name in ("b", "c", "d", "e"):
        keep(store, name, read(store).texts[name].decode(), None)
    assert store.client.exists(store.keys.settings_by) == 0


def test_more_than_is_ours_is_not_read_and_said(store):
    for says, write in {
        "is a string and no hash": lambda client, key: client.set(key, "x"),
        "is a zset and no hash": lambda client, key: client.zadd(key, {"x": 1}),
        "holds 1001 entries": lambda client, key: client.hset(key, mapping={f"a-{n}": "x" for n in range(1_001)}),
        "holds 4194305 bytes": lambda client, key: client.hset(key, "a", "x" * (4 * 2**20)),
    }.items():
        keep(store, "harold", None, TEXT)
        known = read(store)
        store.client.delete(store.keys.settings)
        write(store.client, store.keys.settings)
        found = read(store, known)
        store.client.delete(store.keys.settings)
        assert says in found.mistake
        assert "redis-cli" in found.mistake
        assert (found.texts, read(store, found)) == ({}, StoredTexts())
