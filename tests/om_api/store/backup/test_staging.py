"""What is staged stands where nobody reads it, as often as it was sent, and not for ever."""

import pytest

from om_api.store.backup.staging import STAGED_S, Staging


@pytest.fixture
def of(store):
    return store.keys.of("harold")


@pytest.fixture
def staged(of):
    """One key of every type."""
    made = Staging(of, "t-1")
    made.put(of.messages("t1"), 1.5, b"one")
    made.put(of.messages("t1"), 0.1 + 0.2, b"two")
    made.fill(of.tokens, {"*": 3, "t1": 3})
    made.put(of.source("o1"), 1, b"one", 5_000)
    made.write(of.scope, "resource")
    made.append(of.rejected, b"entry")
    return made


def under(store):
    return {key.decode() for key in store.client.scan_iter(f"{store.keys.prefix}*")}


def test_nothing_stands_under_the_name_that_it_will_have(store, staged):
    store.run(staged.send())

    assert under(store) == {staged.name(key) for key in staged.keys}
    assert not under(store) & staged.keys.keys()


def test_every_key_holds_as_much_as_is_said_of_it_to_the_last_bit(store, of, staged):
    store.run(staged.send())
    held = {key: store.client.execute_command(said.size, staged.name(key)) for key, said in staged.keys.items()}

    assert held == {key: said.held for key, said in staged.keys.items()}
    assert store.client.zscore(staged.name(of.messages("t1")), b"two") == 0.1 + 0.2
    assert staged.keys[of.source("o1")].until == 5_000


def test_what_its_writer_left_behind_is_gone_after_six_hours(store, staged):
    store.run(staged.send())

    assert {store.client.ttl(key) for key in under(store)} <= {STAGED_S, STAGED_S - 1}


def test_what_is_dropped_leaves_nothing(store, staged):
    store.run(staged.send())
    store.run(staged.drop())

    assert under(store) == set()


def test_what_is_sent_twice_is_there_once(store, of):
    """A connection may break before the reply to the first time arrives."""
    staged = Staging(of, "t-1")
    for entries in ([b"a", b"b"], [b"c", b"c"]):
        for entry in entries:
            staged.append(of.rejected, entry)
        sent = next(staged.send())
        store.run(sent)
        store.run(sent)

    assert store.client.lrange(staged.name(of.rejected), 0, -1) == [b"a", b"b", b"c", b"c"]


def test_what_waits_is_counted_until_it_is_sent(store, of, staged):
    before = staged.waiting
    staged.append(of.rejected, b"x" * 1_000)

    assert staged.waiting >= before + 1_000
    store.run(staged.send())
    assert staged.waiting == 0


def test_a_hash_without_fields_is_no_key(of):
    staged = Staging(of, "t-1")
    staged.fill(of.tokens, {})

    assert staged.keys == {}
