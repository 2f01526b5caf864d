"""What a sweep repairs in a memory: lost indexes, lifetimes, and ids that an older version left as raw."""

from scene import HAROLD, breaches, filled, key_of, member, message

from om_api.domain.identity import mark, record_of
from om_api.store.audit.mending import mend
from om_api.store.driver.replies import says
from om_api.store.driver.steps import Verb
from om_api.store.memory.known import COMPLETE

TTL_S = 1_000


def _raw_again(store, n):
    """Write down an id as raw, as a worker that knew of no ids left it."""
    key = key_of(store, "known", "t1")
    for bucket, held in store.client.hgetall(key).items():
        if bucket.isdigit() and (at := held.find(mark(f"m{n}"))) >= 0:
            store.client.hset(key, bucket, held[:at] + record_of(message(n)) + held[at + 16 :])
            return


BREAKS = {
    "threads": lambda store, key: store.client.delete(key),
    "thread:t1": lambda store, key: store.client.delete(key),
    "sources:t1": lambda store, key: store.client.delete(key),
    "segment:o2": lambda store, key: store.client.persist(key),
    "known:t1": lambda store, key: _raw_again(store, 7),
}


def test_mend_repairs_what_verify_names(store, monkeypatch):
    monkeypatch.setattr("om_api.store.audit.verify._PAUSE_S", 0)
    filled(store)
    store.client.hset(key_of(store, "tokens"), COMPLETE, 1)
    base = store.keys.of("harold").base
    assert (breaches(store), store.run(mend(store.keys, "harold", TTL_S))) == ([], 0)
    for name, damage in BREAKS.items():
        damage(store, f"{base}:{name}")
        assert f"{base}:{name}" in {each.where for each in breaches(store)}, name
        assert store.run(mend(store.keys, "harold", TTL_S)) > 0, name
        assert breaches(store) == [], name
    assert 0 < store.client.ttl(f"{base}:sources:t1") <= TTL_S


def test_a_repair_of_what_changed_meanwhile_changes_nothing(store):
    """Time 0: a memory is read. Time 1: its owner clears a thread, or erases a message, which comes again. Time 2: the repair."""
    filled(store)
    of = store.keys.of("harold")
    names = [of.record(HAROLD), of.threads, of.thread("t9"), of.sources("t9")]
    args = ["another epoch", TTL_S, "t9", 1, 1, "", 0, "", 0]
    assert store.run(Verb("mend", names, args, says(b"superseded")))
    assert store.client.exists(of.thread("t9"), of.sources("t9")) == 0
    raw = [of.known("t1"), of.sealed("c5")]
    assert store.run(Verb("relearn", raw, [9, 0, record_of(message(10), 9), member(10)], int)) == 0
