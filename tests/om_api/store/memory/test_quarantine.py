"""retry and drop: what was rejected gets another chance, exactly once, or says why it cannot, and nothing changes."""

import json

import pytest
from scene import (
    AT,
    HAROLD,
    SETTINGS,
    activate,
    activated,
    activating,
    adopt,
    buffer,
    emptied,
    entries,
    expiring,
    interrupted,
    member,
    nothing_changes,
    observation,
    observed,
    only,
    push,
    quarantined,
    ready,
    record,
    reflect,
    reflecting,
    repeating,
    retry,
    retrying,
    seal,
    unchanged,
    write_plainly,
)
from world import wait_until

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import clear, migrate, quarantine, reading, scope_state
from om_api.store.memory.known import tidy


def chunks(store, scope=HAROLD):
    return store.run(scope_state.look(store.keys, scope)).chunks


def sealed(store, chunk):
    return store.client.zrange(store.keys.of("harold").sealed(chunk), 0, -1, withscores=True)


def raw(store, thread="t1"):
    return store.client.zrange(store.keys.of("harold").messages(thread), 0, -1, withscores=True)


def well(store):
    """Nothing that `om verify` looks at is broken."""
    return store.run(verify(store.keys)) == []


MADE = {"ready": quarantined, "activated": activated}  # the placeholder of m1


def reads(store):
    return store.run(reading.observations(store.keys, HAROLD))


def test_retry_puts_a_malformed_member_back_as_it_was_and_it_is_judged_again(store):
    for bad, score in (
        (b"no JSON", AT),
        (b'{"role":"robot","content":"\\u00e9"}', 1.5),
        ('{"role":"é"}'.encode(), -3.25),
    ):
        write_plainly(emptied(store), bad, score=score)
        store.run(adopt(store))
        before = only(store)
        store.client.delete(store.keys.adopt)

        assert retry(store) is Outcome.BUSY
        assert (raw(store), entries(store)) == ([(bad, score)], []), bad
        assert store.client.zscore(store.keys.adopt, store.keys.of("harold").messages("t1")) == 0
        assert store.client.hgetall(store.keys.of("harold").tokens).get(b"#t1") is None
        store.run(adopt(store))
        assert (before.kind, only(store).reason, only(store).member) == ("malformed", before.reason, before.member)
        assert (raw(store), well(store)) == ([], True)
    write_plainly(store, bad, score=AT + 5)  # it came back meanwhile
    assert (retry(store), raw(store)) == (Outcome.BUSY, [(bad, AT + 5)])


def test_retry_of_a_changed_member_is_rejected_until_its_id_is_free(store):
    push(store, 1)
    write_plainly(store, b'{"id":"m1","role":"user","content":"late"}', score=AT + 3_600_000)
    store.run(adopt(store))
    assert (only(store).kind, retry(store)) == ("changed", Outcome.BUSY)
    store.run(adopt(store))
    assert ([found for found, _ in raw(store)], only(store).kind) == ([member(1)], "changed")
    observed(store, "c1", 1)
    assert retry(store) is Outcome.BUSY
    assert store.run(adopt(store)).rejected == 1
    store.client.delete(*expiring(store, "c1"))  # as it expires
    wait_until(lambda: store.run(tidy(store.keys, HAROLD, ["t1"], 0)) == 1, "the id to be forgotten")
    assert retry(store) is Outcome.BUSY
    assert store.run(adopt(store)).kept == 1
    assert (len(raw(store)), entries(store)) == (1, [])


def test_retry_takes_one_of_two_entries_out_that_read_alike(store):
    """Catches a retry that takes an entry along which came since it was read, and whose member nobody puts back."""
    rejected = store.keys.of("harold").rejected
    for made in (lambda s: (write_plainly(s, b"no JSON"), s.run(adopt(s))), quarantined):
        made(emptied(store))
        (entry,) = store.client.lrange(rejected, 0, -1)
        store.run(interrupted(retrying(store), "retry", lambda entry=entry: store.client.rpush(rejected, entry)))
        assert store.client.lrange(rejected, 0, -1) == [entry]


def test_retry_makes_a_ready_placeholder_a_sealed_chunk_that_was_never_tried(store):
    seal(store, "c0", 0)
    quarantined(store)
    seal(store, "c2", 2)
    seqs = [chunk.seq for chunk in chunks(store)]
    assert retry(store) is Outcome.SEALED
    first, fresh, last = chunks(store)
    assert (first.id, last.id, [c.seq for c in chunks(store)]) == ("c0", "c2", seqs)
    assert (fresh.ready, fresh.attempts, fresh.tokens, fresh.messages, fresh.thread) == (False, 0, 10, 1, "t1")
    assert (fresh.observation, sealed(store, fresh.id)) == (None, [(member(1), AT + 1000)])
    assert (entries(store), well(store)) == ([], True)


def test_retry_seals_a_message_as_old_as_its_chunk(store):
    """Breaks without the default: a chunk of unknown age would be retried half way, and scripts do not roll back."""
    for age in (b"1763600000000", None):
        quarantined(emptied(store))
        name = store.keys.of("harold").chunk("c1")
        store.client.hset(name, "sealed_at", age) if age else store.client.hdel(name, "sealed_at")
        assert retry(store) is Outcome.SEALED
        (chunk,) = chunks(store)
        assert store.client.hget(store.keys.of("harold").chunk(chunk.id), "sealed_at") == (age or b"0")


def test_retry_takes_an_activated_placeholder_away_and_seals_its_message_again(store):
    """Breaks when the source keeps its TTL under its new name: the message would be gone before it is observed."""
    observed(store, "c0", 0)
    activated(store)
    before, of = record(store), store.keys.of("harold")
    store.client.set(of.draft(HAROLD), b"{}", ex=60)
    assert retry(store) is Outcome.SEALED
    (fresh,) = chunks(store)
    assert [s.observation.id for s in reads(store)] == ["c0"]
    assert (fresh.ready, fresh.attempts, fresh.tokens, fresh.messages, fresh.thread) == (False, 0, 10, 1, "t1")
    assert (sealed(store, fresh.id), store.client.ttl(of.sealed(fresh.id))) == ([(member(1), AT + 1000)], -1)
    now = record(store)
    assert (now.chunk_tokens, now.observation_tokens, now.observation_count) == (10, 5, 1)
    assert (before.observed_tokens - now.observed_tokens, before.observed_messages - now.observed_messages) == (10, 1)
    assert store.client.zrange(of.sources("t1"), 0, -1) == [b"c0"]
    assert not store.client.exists(of.draft(HAROLD))
    assert (entries(store), well(store)) == ([], True)


def test_retry_marks_the_scope_due_and_what_it_sealed_is_observed_and_activated(store):
    for name, made in MADE.items():
        for scope in (HAROLD, Scope("harold", "t1")):
            made(emptied(store), scope=scope)
            store.client.delete(store.keys.due_observe)
            retry(store)
            assert store.client.zrange(store.keys.due_observe, 0, -1) == [str(scope).encode()], (name, scope)
            (fresh,) = chunks(store, scope)
            buffer(store, fresh.id)
            assert activate(store, fresh.id, by="a-again", scope=scope) is Outcome.ACTIVATED
            (stored,) = store.run(reading.observations(store.keys, scope))
            assert (stored.observation.text, stored.observation.message_ids) == (f"* noted {fresh.id}", ("m1",))
            assert well(store)


def _reflected(store):
    activated(store)
    assert reflect(store, "c1") is Outcome.REFLECTED


def _expired(store):
    activated(store)
    store.client.delete(*expiring(store, "c1"))


def _forgotten(store):
    """By a version that left its entry behind."""
    activated(store)
    entries_ = store.client.lrange(store.keys.of("harold").rejected, 0, -1)
    (stored,) = store.run(reading.observations(store.keys, HAROLD))
    store.run(clear.forget(store.keys, HAROLD, record(store).epoch, stored))
    store.client.rpush(store.keys.of("harold").rejected, *entries_)


def _entry(**fields):
    def prepare(store):
        said = {"thread_id": "t1", "reason": "blocked", "at": AT, "member": member(1).decode(), **fields}
        store.client.rpush(store.keys.of("harold").rejected, json.dumps(said))

    return prepare


OF_C1 = _entry(kind="unobservable", observation="c1")
REFUSED = {
    "a generation covers it": (_reflected, "is covered by generation 1"),
    "its source has expired": (_expired, "has expired"),
    "its placeholder was forgotten": (_forgotten, "no longer there"),
    "an older entry of a message that was accepted": (_entry(), "does not say which observation"),
    "its chunk was observed": (lambda s: (ready(s, "c1", 1), OF_C1(s)), "no placeholder stands for"),
    "its chunk was not tried yet": (lambda s: (seal(s, "c1", 1), OF_C1(s)), "no placeholder stands for"),
    "its bytes were no text": (lambda s: (write_plainly(s, b"\xff\xfe"), s.run(adopt(s))), "no UTF-8"),
    "an older entry with a lost byte": (_entry(member="\ufffd"), "no UTF-8"),
    "it names no resource": (_entry(kind="ownerless"), "names no resource"),
    "a kind that nobody knows": (_entry(kind="odd"), "not written by the workers"),
    "a thread that is none": (_entry(kind="malformed", thread_id="a b"), "is not an id"),
    "not an entry": (lambda s: s.client.rpush(s.keys.of("harold").rejected, b"\xff["), "not written by the workers"),
    "not even an object": (lambda s: s.client.rpush(s.keys.of("harold").rejected, b"5"), "not written by the workers"),
}


def test_retry_refused_says_why_and_changes_nothing(store):
    for why, (prepare, says) in REFUSED.items():
        prepare(emptied(store))
        with nothing_changes(store), pytest.raises(InvalidInputError) as refused:
            retry(store)
        assert says in str(refused.value), why


def test_an_older_entry_is_told_by_what_it_says(store):
    for fields, kind in (
        ({"reason": "not JSON", "member": "{"}, "malformed"),
        ({"reason": "another message with the id m1 was accepted first"}, "changed"),
        ({"kind": "surplus"}, "changed"),
        ({"reason": "a key of the older form, and the message names no resource_id"}, "ownerless"),
        ({"reason": "blocked"}, "unobservable"),
        ({"kind": "malformed", "at": int("9" * 400)}, "foreign"),
    ):
        _entry(**fields)(emptied(store))
        assert only(store).kind == kind, fields
    _entry(reason="not JSON", member="{")(emptied(store))
    assert (retry(store), raw(store)) == (Outcome.BUSY, [(b"{", AT)])


def test_retry_of_one_entry_at_once_by_two_changes_one_thing(store):
    """Breaks without the check of the entry: time 0 two people read the list, time 1 and 2 both retry."""
    for made in (*MADE.values(), lambda s: (write_plainly(s, b"{"), s.run(adopt(s)))):
        for step in ("retry", "LPOS"):  # the other looks for the placeholder too late, too
            made(emptied(store))
            entry, late = only(store).id, []
            steps = retrying(store, entry)
            done = store.run(
                interrupted(steps, step, lambda late=late, entry=entry: late.append(store.run(retrying(store, entry))))
            )
            assert sorted([done, *late]) in (["sealed", "superseded"], ["busy", "superseded"], ["busy"], ["sealed"])
            assert (len(chunks(store)) + len(raw(store)), entries(store), well(store)) == (1, [], True)
            with nothing_changes(store):
                assert retry(store, entry) is Outcome.SUPERSEDED
                assert store.run(quarantine.drop(store.keys, "harold", entry)) is Outcome.SUPERSEDED


def test_retry_repeated_with_its_id_answers_as_before(store):
    for made in MADE.values():
        made(emptied(store))
        again = repeating(store, retrying(store), "retry")
        with nothing_changes(store):
            assert again() == b"sealed"
        fresh = chunks(store)[0].id
        buffer(store, fresh)
        activate(store, fresh, by="a-again")
        with nothing_changes(store):
            assert again() == b"sealed"


def test_retry_makes_late_whoever_planned_with_the_placeholder(store):
    """Breaks when the chunk keeps its id: time 0 a client plans, time 1 retry, time 2 observed anew, time 3 the plan runs."""
    quarantined(store)
    late = activating(store, "c1", by="late")
    observer = chunks_steps.buffer(store.keys, "harold", observation(store, "c1"), "late")
    retry(store)
    buffer(store, chunks(store)[0].id)
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED
        assert store.run(observer) is Outcome.SUPERSEDED
    activated(emptied(store))
    late = reflecting(store, "c1")
    retry(store)
    assert unchanged(store, late) is Outcome.SUPERSEDED
    activated(emptied(store))
    steps = migrate.migrate(store.keys, "harold", "thread", len, SETTINGS)
    assert store.run(interrupted(steps, "migrate", lambda: retry(store))) is Outcome.SUPERSEDED
    assert (len(chunks(store)), well(store)) == (1, True)


def test_retry_leaves_what_was_reflected_meanwhile_covered(store):
    """Breaks when the script believes what was read: the message would be sealed again and behind a generation, too."""
    for name, made in MADE.items():
        made(emptied(store))

        def meanwhile(name=name):
            activate(store, "c1") if name == "ready" else None
            assert reflect(store, "c1") is Outcome.REFLECTED

        with pytest.raises(InvalidInputError, match="covered by generation 1"):
            store.run(interrupted(retrying(store), "retry", meanwhile))
        assert (chunks(store), len(entries(store)), well(store)) == ([], 1, True), name


def test_retry_and_clear_leave_nothing_whichever_comes_first(store):
    """Breaks when retry leaves the record's seq: time 0 clear reads c1, time 1 retry renames it, time 2 c1 is unlinked."""
    for made in MADE.values():
        made(emptied(store))
        steps = interrupted(retrying(store), "retry", lambda: store.run(clear.clear(store.keys, "harold")))
        assert store.run(steps) is Outcome.SUPERSEDED
        assert list(store.client.scan_iter(f"{store.keys.prefix}:{{harold}}*")) == []
        made(emptied(store))
        store.run(interrupted(clear.clear(store.keys, "harold"), "clear", lambda: retry(store)))
        assert list(store.client.scan_iter(f"{store.keys.prefix}:{{harold}}*")) == []
        made(emptied(store))
        ready(store, "c2", 31, thread="t2")
        cleared = clear.clear_thread(store.keys, HAROLD, "t1", len)
        steps = interrupted(retrying(store), "retry", lambda cleared=cleared: store.run(cleared))
        assert store.run(steps) is Outcome.SUPERSEDED
        assert ([c.id for c in chunks(store)], well(store)) == (["c2"], True)


def test_retry_leaves_what_was_dropped_meanwhile_as_it_is(store):
    """Breaks without the check of the entry: time 0 a retry reads it, time 1 its owner drops it, time 2 the memory moves."""
    for name, made in MADE.items():
        made(emptied(store))
        dropping = quarantine.drop(store.keys, "harold", only(store).id)
        steps = interrupted(retrying(store), "retry", lambda dropping=dropping: store.run(dropping))
        assert store.run(steps) is Outcome.SUPERSEDED
        assert [chunk.ready for chunk in chunks(store)] == ([True] if name == "ready" else [])
        assert len(reads(store)) == (name == "activated")


def test_retry_leaves_a_placeholder_whose_messages_are_gone_or_that_is_none_any_more(store):
    """Breaks when the script does not look: the rename fails half-way, with the entry gone."""
    activated(store)
    of = store.keys.of("harold")
    with pytest.raises(InvalidInputError, match="has expired"):
        store.run(interrupted(retrying(store), "retry", lambda: store.client.delete(of.source("c1"))))
    assert (len(reads(store)), len(entries(store))) == (1, 1)
    quarantined(emptied(store))
    store.client.delete(of.sealed("c1"))
    with nothing_changes(store):
        assert retry(store) is Outcome.SUPERSEDED
    for state in ("sealed", "ready"):  # what stands there now may be an observation that a model was paid for
        quarantined(emptied(store))

        def meanwhile(state=state):
            store.client.hdel(of.chunk("c1"), "observation")
            store.client.hset(of.chunk("c1"), "state", "sealed")
            buffer(store, "c1", by="other") if state == "ready" else None

        with pytest.raises(InvalidInputError, match="no placeholder"):
            store.run(interrupted(retrying(store), "retry", meanwhile))
        assert [(c.id, c.ready) for c in chunks(store)] == [("c1", state == "ready")]


def test_entries_are_listed_found_counted_and_dropped_however_long_the_list_is(store):
    activated(store)
    for n in range(2_050):
        _entry(reason=f"another message with the id m{n} was accepted first", member=f'{{"n":{n}}}')(store)
    store.client.zadd(store.keys.resources, {"harold": 1, "albert": 1})
    store.client.rpush(store.keys.of("unknown").rejected, "{}", "{}")
    newest = store.run(quarantine.entries(store.keys, "harold", 2))
    assert [e.member for e in newest] == ['{"n":2048}', '{"n":2049}']
    assert store.run(quarantine.counts(store.keys)) == ({"harold": 2_051, "unknown": 2}, [])
    every, stored = entries(store), reads(store)
    assert retry(store, every[2_041].id) is Outcome.BUSY
    assert raw(store) == [(b'{"n":2040}', AT)]
    assert store.run(quarantine.drop(store.keys, "harold", every[0].id)) is Outcome.CLEARED
    assert (entries(store), reads(store)) == ([each for each in every[1:] if each != every[2_041]], stored)
    assert store.client.ttl(store.keys.of("harold").source("c1")) > 0


def _many(store, n, made=activated):
    for place in range(n):
        made(store, f"c{place}", 100 + place)
    return [entry.id for entry in entries(store)]


def _ended(store, names, meanwhile):
    """What becomes of entries that are retried one after the other; after the first something happens."""
    retrier = quarantine.Retrier(store.keys, "harold", "resource")
    several, found = quarantine.Several(store.keys, "harold", names, retrier.retry), []
    while ended := store.run(several.next()):
        found.append(ended)
        if len(found) == 1:
            meanwhile()
    return found


def test_retrier_finds_what_was_activated_or_forgotten_since_the_memory_was_read(store):
    """Time 0: the first of three is retried. Time 1: another is activated. Time 2: it is retried, and has another place."""
    for name, made in MADE.items():
        activated(emptied(store), "c0", 100)
        made(store, "c1", 101)
        quarantined(store, "c2", 102)
        names, rest = [entry.id for entry in entries(store)], ["c1"] * (name == "ready") + ["c2"]
        found = _ended(store, names, meanwhile=lambda rest=rest: activate(store, *rest, by="a9"))
        assert ([each.outcome for each in found], well(store)) == (["sealed"] * 3, True), name
    names = _many(emptied(store), 3)

    def forgotten():
        assert store.run(clear.forget(store.keys, HAROLD, record(store).epoch, reads(store)[-1])) is Outcome.CLEARED

    assert [each.outcome for each in _ended(store, names, meanwhile=forgotten)] == ["sealed", "sealed", "superseded"]
    assert well(store)
