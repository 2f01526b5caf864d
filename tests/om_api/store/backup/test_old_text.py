import pytest
from scene import HAROLD, observed

from om_api.redaction.making import redactor
from om_api.settings.sections.redaction_settings import RedactionSettings
from om_api.store.backup.old_text import _OldPlace, _write, redact

REDACTOR = redactor(RedactionSettings(kinds=("email",)))


def _place(store, key, member):
    return _OldPlace("sources", key, [member], bytes, HAROLD, scores={member: 1.0})


def test_a_key_of_one_member_keeps_its_lifetime(store):
    key = store.keys.of("harold").source("o1")
    store.client.zadd(key, {b"was": 1.0})
    store.client.expire(key, 500)
    assert store.run(_write(store.keys, _place(store, key, b"was"), [(b"was", b"becomes")])) == 1
    assert store.client.zrange(key, 0, -1, withscores=True) == [(b"becomes", 1.0)]
    assert 0 < store.client.ttl(key) <= 500
    store.client.delete(key)


def test_what_is_not_as_it_was_read_is_left_alone_and_counted_as_not_done(store):
    key = store.keys.of("harold").source("o1")
    store.client.zadd(key, {b"kept": 1.0, b"was": 2.0})
    store.client.expire(key, 500)
    changes = [(b"kept", b"other"), (b"moved", b"becomes")]
    assert store.run(_write(store.keys, _place(store, key, b"kept"), changes)) == 0
    assert store.client.zrange(key, 0, -1) == [b"kept", b"was"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_memory_that_holds_nothing_of_it_is_left_as_it_is(store, dry_run):
    observed(store, "o1", 1, 2)
    done = store.run(redact(store.keys, "harold", REDACTOR, dry_run=dry_run))
    assert (done.outcome, done.kinds, done.places) == ("rest", {}, {})
