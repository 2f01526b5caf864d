"""clear, clear_thread, forget: what is ended is gone in one step, and nothing that came since is taken along."""

import itertools

import pytest
from scene import (
    HAROLD,
    SETTINGS,
    call,
    clearing_thread,
    contents,
    disturbed,
    emptied,
    filled,
    in_force,
    interrupted,
    keeps,
    member,
    nothing_changes,
    observed,
    push,
    ready,
    record,
    reflect,
    reflecting,
    seal,
    unchanged,
    unobservable,
    words,
    write_plainly,
)

from om_api.domain.errors import StoreError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import clear, migrate, note, reading, requests, scope_state
from om_api.store.memory import reflect as reflect_steps

FOLDED = '* of both\n<thread id="t1">\n* of one\n</thread>\n<thread id="t2">\n* of two\n</thread>'


def clearing_all(store, *, retention=False):
    return clear.clear(store.keys, "harold", retention=retention)


def sound(store):
    return store.run(verify(store.keys)) == []


def _another_memory(store):
    """Cleared, and begun anew: its record reads like the old one's but for the epoch."""
    store.run(clearing_all(store))
    seal(store, "c9", 2)


def test_clear_leaves_no_key_of_the_resource_and_every_key_of_others(store):
    store.run(requests.pause(store.keys, "harold-2", on=True))
    filled(store)
    write_plainly(store, member(20))
    cleared = store.run(clearing_all(store))
    assert (cleared.outcome, cleared.observations) == (Outcome.CLEARED, 2)
    assert cleared.messages == 3 + 5  # counted, and in chunks
    assert set(contents(store)) == {store.keys.of("harold-2").tokens.encode(), store.keys.resources.encode()}
    with nothing_changes(store):
        assert store.run(clearing_all(store)).outcome is Outcome.CLEARED
        assert store.run(note.stir(store.keys, HAROLD, "0/0/0")) == 0  # by a sweep that read what was there
    emptied(store)
    observed(store, "o1", 1, scope=Scope("harold", "t1"))
    ready(store, "c2", 31, thread="t2", scope=Scope("harold", "t2"))
    assert store.run(clearing_all(store, retention=True)).outcome is Outcome.CLEARED
    assert contents(store) == {}


def test_clear_is_planned_again_when_something_came(store):
    """Breaks when clear trusts its plan: time 0 it lists the keys, time 1 a key comes, time 2 that key would be left over."""
    for came, meanwhile in {
        "a thread": lambda: push(store, 41, thread="t4"),
        "a chunk": lambda: seal(store, "c9", 2),
        "an observation": lambda: observed(store, "o9", 32, thread="t2"),
        "a generation": lambda: reflect(store, "o2"),
    }.items():
        ready(emptied(store), "c1", 1)
        observed(store, "o2", 31, thread="t2")
        cleared = store.run(interrupted(clearing_all(store), "clear", meanwhile))
        assert cleared.outcome is Outcome.CLEARED, came
        assert set(contents(store)) <= {store.keys.due_observe.encode()}, came


def test_clear_is_planned_again_when_only_the_epoch_differs(store):
    """Breaks without the epoch: the memory that came has the seq and the generation of the one that was read."""
    for clearing, script in ((clearing_all(store), "clear"), (clearing_thread(store, "t1"), "clear_thread")):
        seal(emptied(store), "c1", 1)
        store.run(interrupted(clearing, script, lambda: _another_memory(store)))
        assert (store.run(scope_state.look(store.keys, HAROLD)).chunks, sound(store)) == ([], True), script


def test_clear_of_unknown_threads_or_versions_says_what_to_do_next(store):
    seal(store, "c1", 1)
    of, epoch = store.keys.of("harold"), record(store).epoch
    for retention, word in ((0, b"refetch"), (1, b"superseded")):
        for version in ([epoch, 1, 0], [epoch, 7, 0], [epoch, 1, 7], ["other", 1, 0]):
            with nothing_changes(store):
                keys = [of.tokens, of.threads, of.aliases, of.record(HAROLD)]
                assert call(store, "clear", keys, [retention, 1, 0, *version]) == word, version
        with nothing_changes(store):
            assert call(store, "clear", [of.tokens, of.threads, of.aliases], [retention, 0, 0]) == word


def test_retention_clears_nothing_that_anything_came_to(store):
    """Breaks without the counts: time 0 a memory is idle for 90 days, time 1 its agent is back, time 2 it would be cleared."""
    for came, meanwhile in {
        "a push": lambda: push(store, 21),
        "a push to a new thread": lambda: push(store, 21, thread="t9"),
        "a plain member": lambda: write_plainly(store, member(21)),
        "a seal": lambda: seal(store, "c9", 21),
        "a field": lambda: keeps(store, name="Ada"),
    }.items():
        filled(emptied(store))
        push(store, 20)
        before = len(contents(store))
        cleared = store.run(interrupted(clearing_all(store, retention=True), "clear", meanwhile))
        assert cleared.outcome is Outcome.SUPERSEDED, came
        assert len(contents(store)) >= before, came
        assert sound(store), came


def test_retention_that_is_refused_leaves_the_scope_due(store):
    """Breaks when marks go first and stay away: time 0 the marks are removed, time 1 a push came, time 2 clear is refused."""
    filled(store)
    store.client.delete(store.keys.due_observe)
    done = store.run(interrupted(clearing_all(store, retention=True), "ZREM", lambda: push(store, 21)))
    assert done.outcome is Outcome.SUPERSEDED
    assert store.client.zscore(store.keys.due_observe, "harold") is not None


def test_clear_unlinks_thousands_of_keys_to_the_last(store):
    """Catches a part that is left out where they are named by the thousand."""
    of = store.keys.of("harold")
    many = [f"{of.base}:some:{n}" for n in range(2_500)]
    fixed = [of.tokens, of.record(HAROLD), of.messages("t1"), of.chunks(HAROLD), of.observations(HAROLD)]
    fixed += [of.reflections(HAROLD), of.threads, of.rejected, of.scope, of.working, of.aliases, of.archived]
    thread = ["resource", "", "new", 0, 0, "t1", 0, 0, 0, 0, 0, "", "", 0]
    rows = {"clear": ([of.tokens, of.threads, of.aliases], [0, 0, 0]), "clear_thread": (fixed, thread)}
    for name, (keys, args) in rows.items():
        store.client.mset(dict.fromkeys(many, 1))
        call(store, name, [*keys, *many], args)
        assert contents(store) == {}, name


def test_clear_of_a_memory_that_never_holds_still_is_refused_and_leaves_it_due(store):
    push(store, 1)
    numbers = itertools.count(100)
    with pytest.raises(StoreError, match="changes faster than it can be cleared"):
        store.run(disturbed(clearing_all(store), lambda: push(store, n := next(numbers), thread=f"t{n}")))
    assert store.client.zscore(store.keys.due_observe, "harold") is not None


def test_clear_thread_takes_everything_of_the_thread_and_nothing_of_others(store):
    filled(store)
    before = record(store).seq
    cleared = store.run(clearing_thread(store, "t1"))
    assert (cleared.outcome, cleared.messages, cleared.observations, cleared.merged) == (Outcome.CLEARED, 7, 1, ("o1",))
    assert in_force(store) == ["o3"]
    assert store.run(scope_state.look(store.keys, HAROLD)).unsealed == {"t2": (10, 1)}
    left = set(contents(store))
    assert not [key for key in left if key.endswith(b":t1") or b":t1:" in key]
    for thread in ("t1", "t7"):  # the sweep knows by the seq that something happened
        was = record(store).seq
        assert store.run(clearing_thread(store, thread)).outcome is Outcome.CLEARED
        assert record(store).seq > was > before
    assert (set(contents(store)), sound(store)) == (left, True)
    emptied(store)
    assert store.run(clearing_thread(store, "t1")).outcome is Outcome.CLEARED
    assert contents(store) == {}


def test_clear_thread_takes_its_sections_out_of_every_generation(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 31, thread="t2")
    reflect(store, "o2", text="* of two alone")
    store.run(reflect_steps.draft(store.keys, HAROLD, record(store).epoch, 2, b"* drafted", 60))
    before = record(store).reflection_tokens
    store.run(clearing_thread(store, "t1"))
    old, _ = store.run(reading.generations(store.keys, HAROLD))
    assert old.text == '* of both\n<thread id="t2">\n* of two\n</thread>'
    assert (old.tokens, record(store).reflection_tokens) == (words(old.text), before)
    assert not store.client.exists(store.keys.of("harold").draft(HAROLD))
    observed(emptied(store), "o1", 1)
    reflect(store, "o1", text=FOLDED)
    store.run(clearing_thread(store, "t1"))
    (generation,) = store.run(reading.generations(store.keys, HAROLD))
    assert record(store).reflection_tokens == generation.tokens == words(generation.text)


def test_clear_thread_takes_what_came_since_it_was_planned(store):
    """Breaks without version, generation or the list's length: what came after the plan would stay behind."""
    rejected = store.keys.of("harold").rejected
    for came, meanwhile in {
        "a seal": lambda: seal(store, "c2", 2),
        "a reflection": lambda: reflect(store, "o1", text=FOLDED),
        "a rejected message": lambda: unobservable(store, "c1", 1),
    }.items():
        observed(emptied(store), "o1", 3)
        seal(store, "c1", 1)
        push(store, 31, thread="t2")
        store.run(interrupted(clearing_thread(store, "t1"), "clear_thread", meanwhile))
        assert store.run(scope_state.look(store.keys, HAROLD)).chunks == [], came
        assert not [made for made in store.run(reading.generations(store.keys, HAROLD)) if "of one" in made.text], came
        assert (in_force(store), store.client.exists(rejected), sound(store)) == ([], 0, True), came


def test_clear_thread_takes_every_copy_of_its_entries_out_of_the_quarantine(store):
    """Catches an entry that is passed over, or of which a copy stays that came while the clear was planned."""
    push(store, 1)
    rejected = store.keys.of("harold").rejected
    entries = [b'{"kind":"malformed","thread_id":"%s","member":"%d"}' % (t, n) for n in (1, 2) for t in (b"t1", b"t2")]
    store.client.rpush(rejected, *entries)
    copy = interrupted(clearing_thread(store, "t1"), "clear_thread", lambda: store.client.rpush(rejected, entries[0]))
    store.run(copy)
    assert store.client.lrange(rejected, 0, -1) == entries[1::2]


def test_clear_thread_makes_no_record_of_a_request_that_waits(store):
    """Breaks when any record gets an epoch: the first seal reads none and would be superseded for ever."""
    push(store, 1, 2)
    store.run(requests.force(store.keys, HAROLD, "force"))
    store.run(clearing_thread(store, "t1"))
    assert record(store).epoch == ""
    assert seal(store, "c1", 3) is Outcome.SEALED


def test_clear_thread_makes_a_reflection_late_that_was_thought_before(store):
    """Breaks when the epoch stays: time 0 a Reflector reads generation 1, time 5 t1 is cleared, time 9 it commits t1's words."""
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 31, thread="t2")
    done = store.run(interrupted(reflecting(store, "o2"), "reflect", lambda: store.run(clearing_thread(store, "t1"))))
    assert (done, in_force(store)) == (Outcome.SUPERSEDED, ["o2"])


def test_clear_thread_in_thread_scope_takes_its_generations_along(store):
    scope, other = Scope("harold", "t1"), Scope("harold", "t2")
    observed(store, "o1", 1, scope=scope)
    reflect(store, "o1", scope=scope)
    observed(store, "o2", 31, thread="t2", scope=other)
    store.run(clearing_thread(store, "t1", scope))
    assert store.run(reading.generations(store.keys, scope)) == []
    assert not [key for key in contents(store) if key.endswith(b":t1")]
    assert (in_force(store, other), sound(store)) == (["o2"], True)


def test_clear_thread_finds_a_memory_that_moves_to_the_other_scope_meanwhile(store):
    """Breaks without the scope: the old record is gone, a plan of the old scope is empty, and "cleared" is said of nothing."""
    scope = Scope("harold", "t1")

    def moved():
        store.run(migrate.migrate(store.keys, "harold", "resource", words, SETTINGS))

    for read_before in (False, True):
        observed(emptied(store), "o1", 1, scope=scope)
        steps = clearing_thread(store, "t1", scope)
        if read_before:
            steps = interrupted(steps, "clear_thread", moved)
        else:
            moved()
        done = store.run(steps)
        assert (done.outcome, done.observations, in_force(store)) == (Outcome.CLEARED, 1, []), read_before


def forgetting(store, chunk, epoch=None):
    stored = next(s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.id == chunk)
    return clear.forget(store.keys, HAROLD, record(store).epoch if epoch is None else epoch, stored)


def test_forget_takes_the_messages_and_every_copy_of_its_quarantine_entry_along(store):
    """Catches a copy that came while the owner's word was on its way: it holds what was to be forgotten."""
    observed(store, "o1", 1)
    observed(store, "o2", 2)
    of = store.keys.of("harold")
    entry, other = (b'{"kind":"unobservable","observation":"%s"}' % name for name in (b"o1", b"o2"))
    store.client.rpush(of.rejected, entry, other)
    steps = interrupted(forgetting(store, "o1"), "forget", lambda: store.client.rpush(of.rejected, entry))
    assert store.run(steps) is Outcome.CLEARED
    assert (in_force(store), store.client.exists(of.source("o1"))) == (["o2"], 0)
    assert (record(store).observation_count, record(store).observation_tokens) == (1, 5)
    assert store.client.lrange(of.rejected, 0, -1) == [other]


def test_forget_refused_changes_nothing(store):
    for why, meanwhile in {
        "another memory": lambda: None,
        "forgotten before": lambda: store.run(forgetting(store, "o1")),
        "reflected meanwhile": lambda: reflect(store, "o1"),
    }.items():
        observed(emptied(store), "o1", 1)
        late = forgetting(store, "o1", "other" if why == "another memory" else None)
        meanwhile()
        assert unchanged(store, late) is Outcome.SUPERSEDED, why
