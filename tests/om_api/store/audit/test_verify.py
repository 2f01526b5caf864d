"""verify: every breach is named, and the index is repaired."""

from acl_house import every_key
from scene import (
    HAROLD,
    activate,
    breaches,
    buffer,
    each_step,
    filled,
    key_of,
    member,
    observed,
    push,
    ready,
    record,
    reflect,
    sealing,
    write_plainly,
)

from om_api.domain.values import Outcome, Scope
from om_api.recall.analysis import VERSION
from om_api.store.audit.index_repair import repair_index
from om_api.store.audit.invariants import Breach
from om_api.store.audit.resource_dump import named
from om_api.store.audit.verify import verify
from om_api.store.driver.steps import Wait
from om_api.store.index.reindex import reindex
from om_api.store.memory import chunks, due, requests, scope_state
from om_api.store.memory.keys import Keys


def test_every_verb_leaves_a_memory_without_breach_and_so_do_members_that_wait_for_adoption(store):
    filled(store)
    look = store.run(scope_state.look(store.keys, HAROLD))
    store.run(chunks.split(store.keys, HAROLD, look.chunks[1], 1, 10, 1))
    assert activate(store, "c4", by="a2") is Outcome.ACTIVATED
    assert reflect(store, "o2", "o3", keep=1) is Outcome.REFLECTED
    assert breaches(store) == []
    write_plainly(store, b'{"role":"user","content":"no tokens here"}', member(7), b"not even JSON")
    assert breaches(store) == []


def test_a_breach_that_heals_while_it_is_looked_at_is_not_reported(store):
    filled(store)
    broken = key_of(store, "record", HAROLD)
    store.client.hincrby(broken, "chunk_tokens", 1)

    pauses = []

    def heal(step):
        if isinstance(step, Wait):
            pauses.append(step)
            store.client.hset(broken, "chunk_tokens", 50)

    assert store.run(each_step(verify(store.keys), heal)) == []
    assert len(pauses) == 1


def test_thread_scope_is_walked_like_resource_scope(store):
    scope = Scope("harold", "t1")
    observed(store, "o1", 1, 2, scope=scope)
    ready(store, "c2", 3, scope=scope)
    store.run(due.mark(store.keys.due_observe, [scope]))

    assert breaches(store) == []
    store.client.hincrby(key_of(store, "record", scope), "seq", -1)
    assert [breach.where for breach in breaches(store)] == [key_of(store, "chunks", scope)]


def test_verify_names_a_due_scope_that_is_missing_from_the_index(store):
    def missing():
        store.client.delete(store.keys.due_observe)
        return [breach.where for breach in breaches(store)]

    push(store, 1, 2)
    assert missing() == ["harold"]
    store.run(due.mark(store.keys.due_observe, [Scope("harold", "t1")]))  # a mark for the other scope will do
    assert breaches(store) == []
    store.client.hset(key_of(store, "tokens"), "*wake", 21)  # it rests below its wake
    assert missing() == []
    store.run(sealing(store, "c1", 1, 2))
    assert missing() == ["harold"]
    store.run(requests.pause(store.keys, "harold", on=True))
    assert missing() == []
    store.run(requests.pause(store.keys, "harold", on=False))
    buffer(store, "c1")
    assert missing() == []
    store.run(requests.force(store.keys, HAROLD, "force"))
    assert missing() == ["harold"]


def test_verify_names_a_resource_that_cannot_be_read_and_hides_no_other(store, client):
    """Catches bytes of one writer that ended the walk, and with it the daily check of everybody."""
    filled(store)
    client.hset(store.keys.of("harold").tokens, "*", 99)
    for command, name, *words in (
        ("HSET", "tokens", b"#\xff\xfe", 3),
        ("HSET", "tokens", "*wake", "soon"),
        ("HSET", "tokens", "*dropped", "many"),
        ("ZADD", "threads", 1, b"\xff"),
        ("ZADD", "threads", "inf", "t-1"),
        ("SET", "scope", b"\xff"),
        ("ZADD", "chunks", 1, b"\xff"),
        ("ZADD", "reflections", "inf", b"[]"),
        ("ZADD", "observations", 2, b'{"id":"\xff"}', 3, b"[" * 100_000),
    ):
        at = f"{store.keys.prefix}:{{ada}}:{name}"
        client.execute_command(command, at, *words)
        resources = {breach.where.split("}")[0].rpartition("{")[2] for breach in breaches(store)}
        client.delete(at)
        assert {"ada", "harold"} <= resources, (name, words)


def test_every_name_that_we_give_is_explained_and_no_other():
    keys = Keys("p:om")
    names = every_key(keys, "harold")
    assert [name for name in sorted(names) if named(keys, name) is None] == []
    assert {named(keys, name).resource for name in names} == {None, "harold"}
    for rest in ("other", "{harold}:other", "{a/b}:tokens", "{harold}:chunk:", "due:sleep", "{harold}"):
        assert named(keys, f"p:om:{rest}") is None, rest


def held(store):
    base = f"{store.keys.of('harold').base}:segment:"
    return {key.decode().removeprefix(base): store.client.get(key) for key in store.client.scan_iter(f"{base}*")}


def indexing(store, scope=HAROLD, threads=("t1", "t2")):
    return store.run(reindex(store.keys, scope, record(store, scope).epoch, threads, "auto", 100))


def spoiled(store):
    """A segment that was deleted, one that was cut off, one whose middle was changed, and one of another type."""
    keys = [key_of(store, "segment", name) for name in ("o1", "o2", "o3", "c4")]
    store.client.delete(keys[0], keys[3])
    store.client.set(keys[1], store.client.get(keys[1])[:40], keepttl=True)
    store.client.setrange(keys[2], 60, b"????")
    store.client.rpush(keys[3], "no text")


def test_whatever_is_broken_of_the_index_is_made_anew(store):
    filled(store)
    indexing(store)
    made = held(store)
    spoiled(store)
    repaired = store.run(repair_index(store.keys, breaches(store)))

    assert repaired == 4
    assert indexing(store) == 4
    assert held(store) == made
    assert breaches(store) == []


def test_what_is_no_index_is_left_alone(store):
    filled(store)
    indexing(store)
    before = held(store)
    others = [
        key_of(store, "source", "o1"),
        key_of(store, "record", HAROLD),
        "harold",
        f"{store.keys.prefix}:segment:x",
    ]

    assert store.run(repair_index(store.keys, [Breach(where, "is missing") for where in others])) == 0
    assert held(store) == before
    assert store.client.exists(others[0])
    assert store.client.hget(others[1], "indexed") == str(VERSION).encode()
