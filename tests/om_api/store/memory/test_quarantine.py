"""retry and drop: what was rejected gets another chance, exactly once, or says why it cannot, and nothing changes."""

import json
import time

import pytest
from scene import (
    AT,
    HAROLD,
    SETTINGS,
    TTL,
    activate,
    activated,
    activating,
    adopt,
    buffer,
    call,
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
    retry,
    retrying,
    seal,
    write_plainly,
)

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


# -- what was never accepted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "score"),
    [(b"no JSON", AT), (b'{"role":"robot","content":"\\u00e9"}', 1.5), ('{"role":"é"}'.encode(), -3.25)],
)
def test_a_malformed_member_goes_back_as_it_was_and_is_judged_again(store, bad, score):
    write_plainly(store, bad, score=score)
    store.run(adopt(store))
    before = only(store)
    store.client.delete(store.keys.adopt)

    assert retry(store) is Outcome.BUSY
    assert (raw(store), entries(store)) == ([(bad, score)], [])
    assert store.client.zscore(store.keys.adopt, store.keys.of("harold").messages("t1")) == 0
    assert store.client.hgetall(store.keys.of("harold").tokens).get(b"#t1") is None
    store.run(adopt(store))
    assert (before.kind, only(store).reason, only(store).member) == ("malformed", before.reason, before.member)
    assert (raw(store), well(store)) == ([], True)


def test_an_entry_of_a_time_that_is_none_was_not_written_by_us(store):
    key = store.keys.of("harold").rejected
    store.client.rpush(key, b'{"kind":"malformed","thread_id":"t1","member":"x","at":%s}' % (b"9" * 4_000))

    assert (only(store).kind, only(store).at) == ("foreign", 0)
    with pytest.raises(InvalidInputError, match="cannot be retried"):
        retry(store)


def test_a_changed_member_goes_back_and_is_rejected_again_while_its_id_is_known(store):
    push(store, 1)
    write_plainly(store, b'{"id":"m1","role":"user","content":"late"}')
    store.run(adopt(store))

    assert (only(store).kind, retry(store)) == ("changed", Outcome.BUSY)
    store.run(adopt(store))
    assert only(store).kind == "changed"
    assert [found for found, _ in raw(store)] == [member(1)]


def test_of_two_entries_that_read_alike_one_is_taken_out(store):
    """Catches a retry that takes an entry along which came since it was read, and whose member nobody puts back."""
    write_plainly(store, b"no JSON")
    store.run(adopt(store))
    (entry,) = store.client.lrange(store.keys.of("harold").rejected, 0, -1)
    store.run(
        interrupted(retrying(store), "retry", lambda: store.client.rpush(store.keys.of("harold").rejected, entry))
    )

    assert store.client.lrange(store.keys.of("harold").rejected, 0, -1) == [entry]


def test_of_two_entries_of_a_placeholder_that_read_alike_one_is_taken_out(store):
    quarantined(store)
    (entry,) = store.client.lrange(store.keys.of("harold").rejected, 0, -1)
    store.run(
        interrupted(retrying(store), "retry", lambda: store.client.rpush(store.keys.of("harold").rejected, entry))
    )

    assert store.client.lrange(store.keys.of("harold").rejected, 0, -1) == [entry]


def test_a_changed_member_stays_one_as_long_as_anything_is_kept_of_the_first(store):
    push(store, 1)
    write_plainly(store, b'{"id":"m1","role":"user","content":"late"}', score=AT + 3_600_000)
    store.run(adopt(store))
    seal(store, "c1", 1)

    assert retry(store) is Outcome.BUSY
    assert store.run(adopt(store)).rejected == 1


def test_a_changed_member_becomes_a_message_once_its_id_is_free(store):
    push(store, 1)
    write_plainly(store, b'{"id":"m1","role":"user","content":"late"}', score=AT + 3_600_000)
    store.run(adopt(store))
    observed(store, "c1", 1)
    store.client.delete(*expiring(store, "c1"))  # as it expires
    time.sleep(0.005)
    assert store.run(tidy(store.keys, HAROLD, ["t1"], 0)) == 1

    assert retry(store) is Outcome.BUSY
    assert store.run(adopt(store)).kept == 1
    assert (len(raw(store)), entries(store)) == (1, [])


def test_a_member_that_came_back_meanwhile_stands_there_once(store):
    write_plainly(store, b"no JSON")
    store.run(adopt(store))
    write_plainly(store, b"no JSON", score=AT + 5)

    assert retry(store) is Outcome.BUSY
    assert raw(store) == [(b"no JSON", AT + 5)]


# -- what a placeholder stands for --------------------------------------------------------------------------------------


def test_a_ready_placeholder_becomes_a_sealed_chunk_that_was_never_tried(store):
    seal(store, "c0", 0)
    quarantined(store)
    seal(store, "c2", 2)
    seqs = [chunk.seq for chunk in chunks(store)]

    assert retry(store) is Outcome.SEALED
    first, fresh, last = chunks(store)
    assert (first.id, last.id, [c.seq for c in chunks(store)]) == ("c0", "c2", seqs)
    assert (fresh.ready, fresh.attempts, fresh.tokens, fresh.messages, fresh.thread) == (False, 0, 10, 1, "t1")
    assert fresh.observation is None
    assert sealed(store, fresh.id) == [(member(1), AT + 1000)]
    assert (entries(store), well(store)) == ([], True)


@pytest.mark.parametrize("since", [b"1763600000000", None])
def test_a_message_sealed_again_is_as_old_as_its_chunk(store, since):
    """Breaks without the default: a chunk of unknown age would be retried half way, and scripts do not roll back."""
    quarantined(store)
    of = store.keys.of("harold")
    store.client.hset(of.chunk("c1"), "sealed_at", since) if since else store.client.hdel(of.chunk("c1"), "sealed_at")

    assert retry(store) is Outcome.SEALED
    (chunk,) = chunks(store)
    assert store.client.hget(of.chunk(chunk.id), "sealed_at") == (since or b"0")


def test_an_activated_placeholder_is_gone_and_its_message_sealed_again(store):
    observed(store, "c0", 0)
    activated(store)
    before = record(store)

    assert retry(store) is Outcome.SEALED
    (fresh,) = chunks(store)
    assert [s.observation.id for s in store.run(reading.observations(store.keys, HAROLD))] == ["c0"]
    assert (fresh.ready, fresh.attempts, fresh.tokens, fresh.messages, fresh.thread) == (False, 0, 10, 1, "t1")
    assert sealed(store, fresh.id) == [(member(1), AT + 1000)]
    now = record(store)
    assert (now.chunk_tokens, now.observation_tokens, now.observation_count) == (10, 5, 1)
    assert (before.observed_tokens - now.observed_tokens, before.observed_messages - now.observed_messages) == (10, 1)
    assert (entries(store), well(store)) == ([], True)


def test_a_message_sealed_again_never_expires(store):
    """Breaks when the source keeps its TTL under its new name: the message would be gone before it is observed."""
    activated(store)
    retry(store)

    assert store.client.ttl(store.keys.of("harold").sealed(chunks(store)[0].id)) == -1


@pytest.mark.parametrize("made", [quarantined, activated])
@pytest.mark.parametrize("scope", [HAROLD, Scope("harold", "t1")])
def test_its_scope_is_marked_due(store, made, scope):
    made(store, scope=scope)
    store.client.delete(store.keys.due_observe)
    retry(store)

    assert store.client.zrange(store.keys.due_observe, 0, -1) == [str(scope).encode()]
    assert (len(chunks(store, scope)), well(store)) == (1, True)


@pytest.mark.parametrize("made", [quarantined, activated])
def test_it_can_be_observed_and_activated_then(store, made):
    made(store)
    retry(store)
    (fresh,) = chunks(store)
    buffer(store, fresh.id)

    assert activate(store, fresh.id, by="a-again") is Outcome.ACTIVATED
    (stored,) = store.run(reading.observations(store.keys, HAROLD))
    assert (stored.observation.text, stored.observation.message_ids) == (f"* noted {fresh.id}", ("m1",))
    assert well(store)


def test_a_placeholder_moved_to_another_scope_is_found_there(store):
    activated(store)
    store.run(migrate.migrate(store.keys, "harold", "thread", len, SETTINGS))

    assert retry(store) is Outcome.SEALED
    assert (len(chunks(store, Scope("harold", "t1"))), well(store)) == (1, True)


def test_its_thread_no_longer_names_a_source_of_it(store):
    activated(store)
    retry(store)

    assert store.client.zrange(store.keys.of("harold").sources("t1"), 0, -1) == []


def test_a_draft_that_took_in_the_placeholder_is_gone(store):
    activated(store)
    of = store.keys.of("harold")
    store.client.set(of.draft(HAROLD), b"{}", ex=60)
    retry(store)

    assert not store.client.exists(of.draft(HAROLD))


# -- refusals -----------------------------------------------------------------------------------------------------------


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


def _observed_after_all(store):
    ready(store, "c1", 1)
    _entry(kind="unobservable", observation="c1")(store)


def _not_tried_yet(store):
    seal(store, "c1", 1)
    _entry(kind="unobservable", observation="c1")(store)


def _not_utf8(store):
    write_plainly(store, b"\xff\xfe")
    store.run(adopt(store))


REFUSED = {
    "a generation covers it": (_reflected, "is covered by generation 1"),
    "its source has expired": (_expired, "has expired"),
    "its placeholder was forgotten": (_forgotten, "no longer there"),
    "an older entry of a message that was accepted": (_entry(), "does not say which observation"),
    "its chunk was observed": (_observed_after_all, "no placeholder stands for"),
    "its chunk was not tried yet": (_not_tried_yet, "no placeholder stands for"),
    "its bytes were no text": (_not_utf8, "no UTF-8"),
    "an older entry with a lost byte": (_entry(member="\ufffd"), "no UTF-8"),
    "it names no resource": (_entry(kind="ownerless"), "names no resource"),
    "a kind that nobody knows": (_entry(kind="odd"), "not written by the workers"),
    "a thread that is none": (_entry(kind="malformed", thread_id="a b"), "is not an id"),
    "not an entry": (lambda s: s.client.rpush(s.keys.of("harold").rejected, b"\xff["), "not written by the workers"),
    "not even an object": (lambda s: s.client.rpush(s.keys.of("harold").rejected, b"5"), "not written by the workers"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_retried_says_why_and_changes_nothing(store, why):
    prepare, says = REFUSED[why]
    prepare(store)
    with nothing_changes(store), pytest.raises(InvalidInputError, match=says):
        retry(store)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"reason": "not JSON", "member": "{"}, "malformed"),
        ({"reason": "another message with the id m1 was accepted first"}, "changed"),
        ({"kind": "surplus"}, "changed"),
        ({"reason": "a key of the older form, and the message names no resource_id"}, "ownerless"),
        ({"reason": "blocked"}, "unobservable"),
    ],
)
def test_an_older_entry_is_told_by_what_it_says(store, fields, kind):
    _entry(**fields)(store)

    assert only(store).kind == kind


def test_an_older_malformed_entry_goes_back_at_the_time_it_was_rejected(store):
    _entry(reason="not JSON", member="{")(store)

    assert retry(store) is Outcome.BUSY
    assert raw(store) == [(b"{", AT)]


# -- once ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [quarantined, activated, lambda s: (write_plainly(s, b"{"), s.run(adopt(s)))])
def test_the_second_of_two_retries_changes_nothing(store, made):
    """Breaks without the check of the entry: time 0 two people read the list, time 1 and 2 both retry."""
    made(store)
    entry = only(store).id
    late = []
    first = retrying(store, entry)

    def meanwhile():
        late.append(store.run(retrying(store, entry)))

    done = store.run(interrupted(first, "retry", meanwhile))
    assert sorted([done, *late]) in (["sealed", "superseded"], ["busy", "superseded"])
    assert (len(chunks(store)) + len(raw(store)), entries(store)) == (1, [])
    assert well(store)


@pytest.mark.parametrize("made", [quarantined, activated])
def test_who_looks_for_the_placeholder_too_late_is_told_the_same(store, made):
    """Breaks when the entry is not looked for again: the second would be told that its message is covered by nothing."""
    made(store)
    late = retrying(store, only(store).id)
    done = store.run(interrupted(late, "LPOS", lambda: retry(store)))

    assert (done, len(chunks(store)), well(store)) == (Outcome.SUPERSEDED, 1, True)


@pytest.mark.parametrize("made", [quarantined, activated])
def test_a_retry_repeated_with_its_id_answers_as_before(store, made):
    made(store)
    steps = retrying(store)
    asked = next(steps)
    while getattr(asked, "name", "") != "retry":
        asked = steps.send(_reply(store, asked))

    assert call(store, asked.name, asked.keys, asked.args) == b"sealed"
    with nothing_changes(store):
        assert call(store, asked.name, asked.keys, asked.args) == b"sealed"
    fresh = chunks(store)[0].id
    buffer(store, fresh)
    activate(store, fresh, by="a-again")
    with nothing_changes(store):
        assert call(store, asked.name, asked.keys, asked.args) == b"sealed"


def _reply(store, step):
    def once():
        return (yield step)

    return store.run(once())


def test_an_entry_that_is_gone_is_superseded(store):
    quarantined(store)
    entry = only(store).id
    retry(store)
    with nothing_changes(store):
        assert retry(store, entry) is Outcome.SUPERSEDED
        assert store.run(quarantine.drop(store.keys, "harold", entry)) is Outcome.SUPERSEDED


# -- races --------------------------------------------------------------------------------------------------------------


def test_an_activation_before_the_retry_is_undone_with_it(store):
    """Breaks when the script believes what was read: time 0 a retry sees a ready chunk, time 1 it is activated."""
    quarantined(store)
    done = store.run(interrupted(retrying(store), "retry", lambda: activate(store, "c1")))

    assert done is Outcome.SEALED
    assert store.run(reading.observations(store.keys, HAROLD)) == []
    assert ([c.ready for c in chunks(store)], well(store)) == ([False], True)


def test_an_activation_planned_before_the_retry_cannot_bring_the_placeholder_back(store):
    """Breaks when the chunk keeps its id: time 0 a client plans, time 1 retry, time 2 observed anew, time 3 the plan runs."""
    quarantined(store)
    late = activating(store, "c1", by="late")
    retry(store)
    (fresh,) = chunks(store)
    buffer(store, fresh.id)
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


@pytest.mark.parametrize("made", [quarantined, activated])
def test_a_reflection_before_the_retry_keeps_the_message_covered(store, made):
    """Breaks when the script believes what was read: the message would be sealed again and behind a generation, too."""
    made(store)

    def meanwhile():
        if made is quarantined:
            activate(store, "c1")
        assert reflect(store, "c1") is Outcome.REFLECTED

    with pytest.raises(InvalidInputError, match="covered by generation 1"):
        store.run(interrupted(retrying(store), "retry", meanwhile))
    assert (chunks(store), len(entries(store)), well(store)) == ([], 1, True)


def test_a_reflection_thought_before_the_retry_is_not_committed(store):
    activated(store)
    late = reflecting(store, "c1")
    retry(store)
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


@pytest.mark.parametrize("made", [quarantined, activated])
def test_a_clear_before_the_retry_stays_a_clear(store, made):
    made(store)

    def meanwhile():
        store.run(clear.clear(store.keys, "harold"))

    assert store.run(interrupted(retrying(store), "retry", meanwhile)) is Outcome.SUPERSEDED
    assert list(store.client.scan_iter(f"{store.keys.prefix}:{{harold}}*")) == []


@pytest.mark.parametrize("made", [quarantined, activated])
def test_a_clear_planned_before_the_retry_leaves_nothing_behind(store, made):
    """Breaks when retry leaves the record's seq: time 0 clear reads c1, time 1 retry renames it, time 2 c1 is unlinked."""
    made(store)
    store.run(interrupted(clear.clear(store.keys, "harold"), "clear", lambda: retry(store)))

    assert list(store.client.scan_iter(f"{store.keys.prefix}:{{harold}}*")) == []


@pytest.mark.parametrize("made", [quarantined, activated])
def test_a_thread_cleared_before_the_retry_has_nothing_to_retry(store, made):
    made(store)
    ready(store, "c2", 31, thread="t2")

    def meanwhile():
        store.run(clear.clear_thread(store.keys, HAROLD, "t1", len))

    assert store.run(interrupted(retrying(store), "retry", meanwhile)) is Outcome.SUPERSEDED
    assert ([c.id for c in chunks(store)], well(store)) == (["c2"], True)


def test_a_migration_planned_before_the_retry_moves_nothing(store):
    activated(store)
    steps = migrate.migrate(store.keys, "harold", "thread", len, SETTINGS)

    assert store.run(interrupted(steps, "migrate", lambda: retry(store))) is Outcome.SUPERSEDED
    assert (len(chunks(store)), well(store)) == (1, True)


@pytest.mark.parametrize("made", [quarantined, activated])
def test_what_was_dropped_before_the_retry_stays_as_it_is(store, made):
    """Breaks without the check of the entry: time 0 a retry reads it, time 1 its owner drops it, time 2 the memory moves."""
    made(store)
    entry = only(store).id

    def meanwhile():
        assert store.run(quarantine.drop(store.keys, "harold", entry)) is Outcome.CLEARED

    assert store.run(interrupted(retrying(store), "retry", meanwhile)) is Outcome.SUPERSEDED
    assert [chunk.ready for chunk in chunks(store)] == ([True] if made is quarantined else [])
    assert len(store.run(reading.observations(store.keys, HAROLD))) == (made is activated)


def test_a_source_that_expires_before_the_retry_leaves_the_placeholder(store):
    """Breaks when the script does not look: the rename fails half-way, with the entry gone."""
    activated(store)
    source = store.keys.of("harold").source("c1")

    with pytest.raises(InvalidInputError, match="has expired"):
        store.run(interrupted(retrying(store), "retry", lambda: store.client.delete(source)))
    assert (len(store.run(reading.observations(store.keys, HAROLD))), len(entries(store))) == (1, 1)


def test_a_chunk_whose_messages_were_taken_away_by_hand_is_left_alone(store):
    quarantined(store)
    store.client.delete(store.keys.of("harold").sealed("c1"))
    with nothing_changes(store):
        assert retry(store) is Outcome.SUPERSEDED


@pytest.mark.parametrize("state", ["sealed", "ready"])
def test_another_chunk_in_the_placeholders_place_is_left_alone(store, state):
    """Breaks when the chunk's id is enough: what stands there now may be an observation that a model was paid for."""
    quarantined(store)
    of = store.keys.of("harold")

    def meanwhile():
        store.client.hdel(of.chunk("c1"), "observation")
        store.client.hset(of.chunk("c1"), "state", "sealed")
        if state == "ready":
            buffer(store, "c1", by="other")

    with pytest.raises(InvalidInputError, match="no placeholder"):
        store.run(interrupted(retrying(store), "retry", meanwhile))
    assert [(c.id, c.ready) for c in chunks(store)] == [("c1", state == "ready")]


def test_an_observer_that_still_thinks_of_the_chunk_changes_nothing(store):
    quarantined(store)
    late = chunks_steps.buffer(store.keys, "harold", observation(store, "c1"), "late")
    retry(store)
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


# -- looking and dropping -----------------------------------------------------------------------------------------------


def test_dropping_removes_the_entry_and_nothing_else(store):
    activated(store)
    write_plainly(store, b"{")
    store.run(adopt(store))
    first, second = entries(store)
    stored = store.run(reading.observations(store.keys, HAROLD))

    assert store.run(quarantine.drop(store.keys, "harold", first.id)) is Outcome.CLEARED
    assert entries(store) == [second]
    assert store.run(reading.observations(store.keys, HAROLD)) == stored
    assert store.client.ttl(store.keys.of("harold").source("c1")) in {TTL, TTL - 1}


def test_the_newest_entries_are_listed_oldest_first(store):
    for n in range(5):
        _entry(reason=f"r{n}")(store)

    assert [e.reason for e in store.run(quarantine.entries(store.keys, "harold", 2))] == ["r3", "r4"]
    assert len({e.id for e in entries(store)}) == 5


def test_an_entry_is_found_however_long_the_list_is(store):
    for n in range(2_050):
        _entry(reason=f"another message with the id m{n} was accepted first", member=f'{{"n":{n}}}')(store)

    assert retry(store, entries(store)[2_040].id) is Outcome.BUSY
    assert raw(store) == [(b'{"n":2040}', AT)]


def test_only_resources_with_entries_are_counted(store):
    _entry()(store)
    store.client.zadd(store.keys.resources, {"harold": 1, "albert": 1})
    store.client.rpush(store.keys.of("unknown").rejected, "{}", "{}")

    assert store.run(quarantine.counts(store.keys)) == ({"harold": 1, "unknown": 2}, [])


# -- many ---------------------------------------------------------------------------------------------------------------


def _many(store, n, made=activated):
    for place in range(n):
        made(store, f"c{place}", 100 + place)
    return [entry.id for entry in entries(store)]


def _ended(store, names, asked=None, meanwhile=None):
    """What becomes of entries that are retried one after the other; `asked` takes the name and key of each command."""
    retrier = quarantine.Retrier(store.keys, "harold", "resource")
    several, found = quarantine.Several(store.keys, "harold", names, retrier.retry), []
    while ended := store.run(_noted(several.next(), [] if asked is None else asked)):
        found.append(ended)
        if meanwhile and len(found) == 1:
            meanwhile()
    return found


def _noted(steps, asked):
    reply = None
    try:
        while True:
            step = steps.send(reply)
            asked += [command[:2] for command in getattr(step, "commands", [])]
            reply = yield step
    except StopIteration as end:
        return end.value


def test_the_list_and_the_memory_are_read_once_for_all_that_are_retried(store):
    """Breaks when each is looked for anew: a thousand entries are read a thousand times."""
    names, asked, of = _many(store, 6), [], store.keys.of("harold")
    found = _ended(store, names, asked)

    assert [(each.id, each.outcome) for each in found] == [(name, Outcome.SEALED) for name in names]
    assert asked.count(("LRANGE", of.rejected)) == 1
    assert asked.count(("ZRANGE", of.observations(HAROLD))) == 1
    assert well(store)


def test_what_cannot_be_retried_says_so_and_keeps_nobody_else_back(store):
    _many(store, 2)
    _entry(kind="ownerless", reason="nobody's")(store)
    found = _ended(store, [entries(store)[2].id, *(entry.id for entry in entries(store)[:2]), "gone"])

    assert [each.outcome for each in found] == ["rejected", "sealed", "sealed", "superseded"]
    assert [bool(each.refusal) for each in found] == [True, False, False, False]


@pytest.mark.parametrize("made", [activated, quarantined])
def test_a_placeholder_that_was_activated_since_the_memory_was_read_is_found(store, made):
    """Time 0: the first of three is retried. Time 1: another is activated. Time 2: it is retried, and has another place."""
    activated(store, "c0", 100)
    made(store, "c1", 101)
    quarantined(store, "c2", 102)
    names = [entry.id for entry in entries(store)]
    found = _ended(
        store, names, meanwhile=lambda: activate(store, *(["c1"] if made is quarantined else []), "c2", by="a9")
    )

    assert [each.outcome for each in found] == ["sealed"] * 3
    assert well(store)


def test_a_placeholder_that_was_forgotten_since_the_memory_was_read_is_gone(store):
    names = _many(store, 3)

    def meanwhile():
        last = store.run(reading.observations(store.keys, HAROLD))[-1]
        assert store.run(clear.forget(store.keys, HAROLD, record(store).epoch, last)) is Outcome.CLEARED

    assert [each.outcome for each in _ended(store, names, meanwhile=meanwhile)] == ["sealed", "sealed", "superseded"]
    assert well(store)
