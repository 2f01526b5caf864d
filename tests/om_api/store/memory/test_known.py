"""What is known of ids: as many as there are, as long as they are kept, and what an older version left is learned."""

from scene import HAROLD, at_step, cleared, emptied, member, observed, overtaken, push, ready, seal
from world import wait_until

from om_api.store.audit.verify import verify
from om_api.store.memory import due
from om_api.store.memory.known import day_of, held_records, laid_out, learn, recognise, records_of, tidy


def fields(store, thread="t1"):
    return store.client.hgetall(store.keys.of("harold").known(thread))


def names(store, *numbers, thread="t1"):
    """Which of some messages are known, and on which day they were sealed (0: raw)."""
    found = store.run(recognise(store.keys, "harold", thread, [f"m{n}" for n in numbers]))
    return {name: known.day for name, known in found.items()}


def today(store):
    return day_of(int(store.client.time()[0]) * 1000)


def test_recognise_knows_what_was_pushed_or_sealed_and_nothing_else(store):
    seal(store, "c1", 1)
    push(store, 2)
    assert names(store, 1, 2, 3) == {"m1": today(store), "m2": 0}
    assert store.run(recognise(store.keys, "harold", "t1", [])) == {}
    assert names(store, 1, thread="t2") == {}


def test_known_ids_stand_each_in_its_bucket_however_many_there_are(store):
    """Catches a split that moves what it must keep, and a layout that Python and the scripts do not agree on."""
    for at_once in (37, 500):
        emptied(store)
        for start in range(0, 2_000, at_once):
            push(store, *range(start, min(start + at_once, 2_000)))
        held = fields(store)
        buckets = [len(value) // 16 for name, value in held.items() if name.isdigit()]
        assert (int(held[b"#"]), sum(buckets), len(held_records(held))) == (2_000, 2_000, 2_000)
        assert max(buckets) < 3 * 48
        assert len(names(store, *range(2_100))) == 2_000
    for count in (0, 1, 47, 48, 49, 96, 97, 1_000):
        records = records_of(member(n) for n in range(count))
        known = emptied(store).keys.of("harold").known("t1")
        store.client.hset(known, mapping=laid_out(records, {20_000: 5}))
        assert len(names(store, *range(count + 5))) == count
        push(store, *range(count + 60))
        assert len(names(store, *range(count + 100))) == count + 60, count
        assert fields(store)[b"d20000"] == b"5"


def test_known_numbers_that_somebody_forged_keep_nobody_out(store):
    for field in "#/":
        for forged in (10**15, "inf", "nan", -1, "x"):
            push(emptied(store), 1)
            store.client.hset(store.keys.of("harold").known("t1"), field, forged)
            push(store, 2)
            assert names(store, 2) == {"m2": 0}, (field, forged)


# -- learning ----------------------------------------------------------------------------------------------------------


def forget_ids(store):
    """As an older version leaves a memory: without what is known of ids."""
    of = store.keys.of("harold")
    store.client.delete(of.known("t1"), of.known("t2"))
    store.client.hdel(of.tokens, "*ids")


def test_what_an_older_version_kept_is_learned_wherever_it_is(store):
    observed(store, "c1", 1)
    seal(store, "c2", 2)
    push(store, 3)
    push(store, 4, thread="t2")
    forget_ids(store)
    store.run(learn(store.keys, HAROLD, ["t1", "t2"], complete=True))
    assert names(store, 1, 2, 3) == {"m1": today(store), "m2": today(store), "m3": 0}
    assert names(store, 4, thread="t2") == {"m4": 0}
    assert fields(store)[b"d%d" % today(store)]
    store.run(due.mark(store.keys.due_observe, [HAROLD]))
    assert store.run(verify(store.keys)) == []


def test_what_is_known_already_is_not_learned_otherwise(store):
    """Time 0: a worker reads m1 as raw. Time 1: it is sealed. Time 2: what was read is learned."""
    push(store, 1)
    store.run(at_step(learn(store.keys, HAROLD, ["t1"], complete=False), 1, lambda: seal(store, "c1", 1)))
    assert names(store, 1) == {"m1": today(store)}


def test_a_memory_without_messages_is_not_said_to_be_complete(store):
    store.run(learn(store.keys, HAROLD, [], complete=True))
    assert not store.client.exists(store.keys.of("harold").tokens)


# -- forgetting --------------------------------------------------------------------------------------------------------


def expire(store, *chunks):
    of = store.keys.of("harold")
    store.client.delete(of.sources("t1"), *map(of.source, chunks))
    then = store.run(due.server_ms())
    wait_until(lambda: store.run(due.server_ms()) > then + 1, "a later moment")


def test_tidy_forgets_ids_with_the_sources_of_their_day(store):
    observed(store, "c1", *range(100))
    push(store, 300)
    expire(store, "c1")
    assert store.run(tidy(store.keys, HAROLD, ["t1"], 3_600)) == 0
    assert store.run(tidy(store.keys, HAROLD, ["t1"], 0)) == 100
    assert names(store, 1, 2, 300) == {"m300": 0}
    assert fields(store)[b"#"] == b"1"
    assert b"d%d" % today(store) not in fields(store)
    observed(emptied(store), "c1", 1)
    seal(store, "c2", 2, thread="t2")  # another thread's chunk keeps no id
    expire(store, "c1")
    assert store.run(tidy(store.keys, HAROLD, ["t1"], 0)) == 1
    assert store.client.exists(store.keys.of("harold").known("t1")) == 0
    assert push(store, *range(3)).added == 3


def test_tidy_keeps_ids_while_a_chunk_of_their_day_waits(store):
    """Breaks when only activations are looked at: what was sealed that day and never activated would be forgotten."""
    for waiting in (seal, ready):
        observed(emptied(store), "c1", 1)
        waiting(store, "c2", 2)
        expire(store, "c1")
        assert store.run(tidy(store.keys, HAROLD, ["t1"], 0)) == 0
        assert set(names(store, 1, 2)) == {"m1", "m2"}


def test_a_look_that_did_not_name_every_chunk_forgets_nothing(store):
    observed(store, "c1", 1)
    expire(store, "c1")
    assert overtaken(store, tidy(store.keys, HAROLD, ["t1"], 0), "tidy", lambda: seal(store, "c2", 2)) == 0


def test_the_record_says_when_to_look_next(store):
    of = store.keys.of("harold")
    observed(store, "c1", 1)
    first = int(store.client.hget(of.record(HAROLD), "tidy_at"))
    activated = int(fields(store)[b"d%d" % today(store)])
    assert first > activated
    store.run(tidy(store.keys, HAROLD, ["t1"], 50))
    assert 50_000 <= int(store.client.hget(of.record(HAROLD), "tidy_at")) - activated <= 50_001
    cleared(store)
    store.run(tidy(store.keys, HAROLD, ["t1"], 50))
    assert store.client.exists(of.record(HAROLD)) == 0
