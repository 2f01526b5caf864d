"""clear, clear_thread: what is ended is gone in one step, and nothing that came since is taken along."""

import pytest
from scene import (
    AT,
    HAROLD,
    SETTINGS,
    call,
    clearing_thread,
    contents,
    filled,
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


def ids(store, scope=HAROLD):
    return [s.observation.id for s in store.run(reading.observations(store.keys, scope))]


def many(store):
    """Keys that nobody reads, more than one command can name."""
    names = [f"{store.keys.of('harold').base}:some:{n}" for n in range(2_500)]
    store.client.mset(dict.fromkeys(names, 1))
    return names


# -- clear --------------------------------------------------------------------------------------------------------------


def test_clear_leaves_no_key_of_a_resource(store):
    filled(store)
    cleared = store.run(clearing_all(store))

    assert (cleared.outcome, cleared.messages, cleared.observations) == (
        Outcome.CLEARED,
        3 + 5,
        2,
    )  # raw, and in chunks
    assert contents(store) == {}


def test_clear_leaves_other_resources_alone(store):
    store.run(requests.pause(store.keys, "harold-2", on=True))
    filled(store)
    store.run(clearing_all(store))

    assert set(contents(store)) == {store.keys.of("harold-2").tokens.encode(), store.keys.resources.encode()}


def test_clear_of_nothing_is_cleared(store):
    assert store.run(clearing_all(store)).outcome is Outcome.CLEARED


def test_clear_again_is_cleared_again(store):
    filled(store)
    store.run(clearing_all(store))
    with nothing_changes(store):
        assert store.run(clearing_all(store)).outcome is Outcome.CLEARED


def test_a_sweep_that_comes_after_a_clear_brings_no_record_back(store):
    """Time 0: the sweep reads a memory. Time 1: it is cleared. Time 2: the sweep notes when it last changed."""
    filled(store)
    store.run(clearing_all(store))

    assert store.run(note.stir(store.keys, HAROLD, "0/0/0")) == 0
    assert contents(store) == {}


def test_clear_takes_what_waits_for_adoption_and_its_hint(store):
    write_plainly(store, member(1))
    store.run(clearing_all(store))

    assert contents(store) == {}


@pytest.mark.parametrize("came", ["a thread", "a chunk", "an observation", "a generation"])
def test_clear_is_planned_again_when_something_came(store, came):
    """Breaks when clear trusts its plan: time 0 it lists the keys, time 1 a key comes, time 2 that key would be left over."""
    ready(store, "c1", 1)
    observed(store, "o2", 31, thread="t2")
    meanwhile = {
        "a thread": lambda: push(store, 41, thread="t4"),
        "a chunk": lambda: seal(store, "c9", 2),
        "an observation": lambda: observed(store, "o9", 32, thread="t2"),
        "a generation": lambda: reflect(store, "o2"),
    }
    cleared = store.run(interrupted(clearing_all(store), "clear", meanwhile[came]))

    assert cleared.outcome is Outcome.CLEARED
    assert set(contents(store)) <= {store.keys.due_observe.encode()}


@pytest.mark.parametrize(("retention", "word"), [(0, b"refetch"), (1, b"superseded")])
def test_a_clear_that_does_not_know_a_thread_says_what_to_do_next(store, retention, word):
    of = store.keys.of("harold")
    store.client.zadd(of.threads, {"t9": AT})
    with nothing_changes(store):
        assert call(store, "clear", [of.tokens, of.threads, of.aliases], [retention, 0, 0]) == word


def _another_memory(store):
    """Cleared, and begun anew: its record reads like the old one's but for the epoch."""
    store.run(clearing_all(store))
    seal(store, "c9", 2)


def test_clear_is_planned_again_when_another_memory_stands_in_its_place(store):
    """Breaks without the epoch: time 0 it reads c1, time 1 another clear and a seal leave seq and generation as read."""
    seal(store, "c1", 1)
    store.run(interrupted(clearing_all(store), "clear", lambda: _another_memory(store)))

    assert set(contents(store)) <= {store.keys.due_observe.encode()}


@pytest.mark.parametrize(("retention", "word"), [(0, b"refetch"), (1, b"superseded")])
def test_a_clear_of_another_version_says_what_to_do_next(store, retention, word):
    seal(store, "c1", 1)
    of = store.keys.of("harold")
    with nothing_changes(store):
        assert (
            call(
                store,
                "clear",
                [of.tokens, of.threads, of.aliases, of.record(HAROLD)],
                [retention, 1, 0, record(store).epoch, 7, 0],
            )
            == word
        )


def test_a_memory_in_thread_scope_is_cleared_whole(store):
    observed(store, "o1", 1, scope=Scope("harold", "t1"))
    ready(store, "c2", 31, thread="t2", scope=Scope("harold", "t2"))
    store.run(clearing_all(store))

    assert contents(store) == {}


@pytest.mark.parametrize("came", ["a push", "a push to a new thread", "a plain member", "a seal", "a field"])
def test_retention_clears_nothing_that_anything_came_to(store, came):
    """Breaks without the counts: time 0 a memory is idle for 90 days, time 1 its agent is back, time 2 it would be cleared."""
    filled(store)
    push(store, 20)
    meanwhile = {
        "a push": lambda: push(store, 21),
        "a push to a new thread": lambda: push(store, 21, thread="t9"),
        "a plain member": lambda: write_plainly(store, member(21)),
        "a seal": lambda: seal(store, "c9", 21),
        "a field": lambda: keeps(store, name="Ada"),
    }
    before = len(contents(store))
    cleared = store.run(interrupted(clearing_all(store, retention=True), "clear", meanwhile[came]))

    assert cleared.outcome is Outcome.SUPERSEDED
    assert len(contents(store)) >= before
    assert store.run(verify(store.keys)) == []


def test_retention_that_is_refused_leaves_the_scope_due(store):
    """Breaks when marks go first and stay away: time 0 the marks are removed, time 1 a push came, time 2 clear is refused."""
    filled(store)
    store.client.delete(store.keys.due_observe)
    done = store.run(interrupted(clearing_all(store, retention=True), "ZREM", lambda: push(store, 21)))

    assert done.outcome is Outcome.SUPERSEDED
    assert store.client.zscore(store.keys.due_observe, "harold") is not None


def test_thousands_of_keys_are_unlinked_to_the_last(store):
    """Catches a part that is left out where they are named by the thousand."""
    of = store.keys.of("harold")
    names = many(store)
    call(store, "clear", [of.tokens, of.threads, of.aliases, *names], [0, 0, 0])

    assert contents(store) == {}


def test_retention_clears_what_is_idle(store):
    filled(store)

    assert store.run(clearing_all(store, retention=True)).outcome is Outcome.CLEARED
    assert contents(store) == {}


def test_a_memory_that_never_holds_still_is_said_so(store):
    push(store, 1)
    steps, n = clearing_all(store), 100
    step = next(steps)
    with pytest.raises(StoreError, match="changes faster than it can be cleared"):
        while True:
            if type(step).__name__ == "Verb":
                n += 1
                push(store, n, thread=f"t{n}")
            step = steps.send(_perform(store, step))

    assert store.client.zscore(store.keys.due_observe, "harold") is not None


def _perform(store, step):
    def one():
        return (yield step)

    return store.run(one())


# -- clear_thread -------------------------------------------------------------------------------------------------------


def test_a_cleared_thread_is_gone_and_the_others_stay(store):
    filled(store)
    cleared = store.run(clearing_thread(store, "t1"))

    assert (cleared.outcome, cleared.messages, cleared.observations, cleared.merged) == (Outcome.CLEARED, 7, 1, ("o1",))
    assert ids(store) == ["o3"]
    assert store.run(scope_state.look(store.keys, HAROLD)).unsealed == {"t2": (10, 1)}
    assert not [key for key in contents(store) if key.endswith(b":t1") or b":t1:" in key]


def test_the_sections_of_a_cleared_thread_leave_every_generation(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    store.run(clearing_thread(store, "t1"))
    (generation,) = store.run(reading.generations(store.keys, HAROLD))

    assert "of one" not in generation.text
    assert "of two" in generation.text
    assert record(store).reflection_tokens == generation.tokens == words(generation.text)


def test_a_thread_cleared_twice_changes_nothing_the_second_time(store):
    filled(store)
    store.run(clearing_thread(store, "t1"))
    before = set(contents(store))
    store.run(clearing_thread(store, "t1"))

    assert set(contents(store)) == before
    assert store.run(verify(store.keys)) == []


def test_clearing_a_thread_that_never_was_breaks_nothing(store):
    filled(store)

    assert store.run(clearing_thread(store, "t7")).outcome is Outcome.CLEARED
    assert store.run(verify(store.keys)) == []


def test_a_thread_is_cleared_with_what_was_sealed_meanwhile(store):
    """Breaks without the version: time 0 the plan names c1, time 1 c2 is sealed, time 2 c2 would stay behind."""
    ready(store, "c1", 1)
    push(store, 31, thread="t2")
    store.run(interrupted(clearing_thread(store, "t1"), "clear_thread", lambda: seal(store, "c2", 2)))

    assert store.run(scope_state.look(store.keys, HAROLD)).chunks == []
    assert store.run(verify(store.keys)) == []


def test_a_thread_is_cleared_with_what_was_reflected_meanwhile(store):
    """Breaks without the generation: time 0 the plan names o1, time 1 it is reflected, time 2 its words stay in the text."""
    observed(store, "o1", 1)
    meanwhile = interrupted(clearing_thread(store, "t1"), "clear_thread", lambda: reflect(store, "o1", text=FOLDED))
    store.run(meanwhile)
    (generation,) = store.run(reading.generations(store.keys, HAROLD))

    assert "of one" not in generation.text
    assert store.run(verify(store.keys)) == []


def test_a_thread_that_is_only_raw_is_cleared(store):
    push(store, 1)
    push(store, 31, thread="t2")

    assert store.run(clearing_thread(store, "t1")).outcome is Outcome.CLEARED
    assert store.run(scope_state.look(store.keys, HAROLD)).unsealed == {"t2": (10, 1)}


def test_clearing_a_thread_of_nothing_leaves_nothing(store):
    assert store.run(clearing_thread(store, "t1")).outcome is Outcome.CLEARED
    assert contents(store) == {}


def test_a_request_that_waits_is_no_memory_after_its_thread_was_cleared(store):
    """Breaks when any record gets an epoch: the first seal reads none and would be superseded for ever."""
    push(store, 1, 2)
    store.run(requests.force(store.keys, HAROLD, "force"))
    store.run(clearing_thread(store, "t1"))

    assert record(store).epoch == ""
    assert seal(store, "c1", 3) is Outcome.SEALED


def test_a_generation_without_the_thread_keeps_its_weight(store):
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 31, thread="t2")
    reflect(store, "o2", text="* of two alone")
    before = record(store).reflection_tokens
    store.run(clearing_thread(store, "t1"))
    old, _ = store.run(reading.generations(store.keys, HAROLD))

    assert record(store).reflection_tokens == before != old.tokens


def test_a_thread_of_another_memory_is_cleared_by_another_plan(store):
    """Breaks without the epoch: the plan names c1, what is there by then is c9, and seq and generation are as read."""
    seal(store, "c1", 1)
    store.run(interrupted(clearing_thread(store, "t1"), "clear_thread", lambda: _another_memory(store)))

    assert store.run(scope_state.look(store.keys, HAROLD)).chunks == []
    assert store.run(verify(store.keys)) == []


def test_a_reflection_thought_from_a_cleared_thread_is_not_committed(store):
    """Breaks when the epoch stays: time 0 a Reflector reads generation 1, time 5 t1 is cleared, time 9 it commits t1's words."""
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 31, thread="t2")
    done = store.run(interrupted(reflecting(store, "o2"), "reflect", lambda: store.run(clearing_thread(store, "t1"))))

    assert done is Outcome.SUPERSEDED
    assert ids(store) == ["o2"]


def test_thousands_of_keys_of_a_thread_are_unlinked_to_the_last(store):
    """Catches a part that is left out where they are named by the thousand."""
    of = store.keys.of("harold")
    fixed = [of.tokens, of.record(HAROLD), of.messages("t1"), of.chunks(HAROLD), of.observations(HAROLD)]
    fixed += [of.reflections(HAROLD), of.threads, of.rejected, of.scope, of.working, of.aliases]
    call(store, "clear_thread", [*fixed, *many(store)], ["resource", "", "new", 0, 0, "t1", 0, 0, 0, 0, 0, "", "", 0])

    assert contents(store) == {}


def test_a_cleared_thread_takes_the_draft_of_a_reflection_along(store):
    """Catches a draft that is read as one more history, or stays, with the words of what was cleared."""
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    observed(store, "o2", 2)
    store.run(reflect_steps.draft(store.keys, HAROLD, record(store).epoch, 1, b"* drafted", 60))

    assert store.run(clearing_thread(store, "t1")).outcome is Outcome.CLEARED
    assert not store.client.exists(store.keys.of("harold").draft(HAROLD))


def test_what_was_rejected_since_it_was_planned_goes_with_its_thread(store):
    """Catches an entry that holds what a thread said, though the thread was cleared."""
    seal(store, "c1", 1)
    rejected = store.keys.of("harold").rejected
    store.run(interrupted(clearing_thread(store, "t1"), "clear_thread", lambda: unobservable(store, "c1", 1)))

    assert store.client.exists(rejected) == 0
    assert store.run(verify(store.keys)) == []


def test_a_cleared_thread_leaves_the_quarantine_and_every_text_with_it(store):
    """Catches an entry that is passed over, or of which a copy stays that came while the clear was planned."""
    observed(store, "o1", 1)
    reflect(store, "o1", text=FOLDED)
    rejected = store.keys.of("harold").rejected
    entries = [b'{"kind":"malformed","thread_id":"%s","member":"%d"}' % (t, n) for n in (1, 2) for t in (b"t1", b"t2")]
    store.client.rpush(rejected, *entries)
    store.run(
        interrupted(clearing_thread(store, "t1"), "clear_thread", lambda: store.client.rpush(rejected, entries[0]))
    )
    (generation,) = store.run(reading.generations(store.keys, HAROLD))

    assert store.client.lrange(rejected, 0, -1) == entries[1::2]
    assert "of one" not in generation.text


def test_a_cleared_thread_is_a_change_even_when_nothing_was_counted_of_it(store):
    """Catches a seq that stays: the sweep knows by it, and by the counters, whether anything happened to a memory."""
    observed(store, "o1", 1)
    before = record(store).seq
    store.run(clearing_thread(store, "t7"))

    assert record(store).seq > before


def test_a_cleared_thread_takes_its_own_tokens_off_the_total_and_no_more(store):
    push(store, 1)
    push(store, 31, thread="t2")
    totals = []
    for thread in ("t3", "t1", "t2"):
        store.run(clearing_thread(store, thread))
        totals.append(store.client.hget(store.keys.of("harold").tokens, "*"))

    assert totals == [b"20", b"10", b"0"]


def test_in_thread_scope_a_cleared_thread_takes_its_generations_along(store):
    scope, other = Scope("harold", "t1"), Scope("harold", "t2")
    observed(store, "o1", 1, scope=scope)
    reflect(store, "o1", scope=scope)
    observed(store, "o2", 31, thread="t2", scope=other)
    store.run(clearing_thread(store, "t1", scope))

    assert store.run(reading.generations(store.keys, scope)) == []
    assert not [key for key in contents(store) if key.endswith(b":t1")]
    assert ids(store, other) == ["o2"]
    assert store.run(verify(store.keys)) == []


@pytest.mark.parametrize(
    ("thread", "left"),
    [("t1", '* of both\n<thread id="t2">\n* of two\n</thread>'), ("t7", FOLDED)],
)
def test_a_text_loses_the_sections_of_one_thread(thread, left):
    assert clear.without_thread(FOLDED, thread) == left


def test_a_thread_of_a_scope_unknown_so_far_is_among_the_threads(store):
    push(store, 1)
    seal(store, "c2", 31, thread="t2")
    write_plainly(store, member(1, "t3"), thread="t3", score=AT)

    assert store.run(clear.threads_of(store.keys, "harold")) == ["t1", "t2", "t3"]


@pytest.mark.parametrize("when", ["before it is read", "before it is cleared"])
def test_a_thread_that_moves_to_the_other_scope_while_it_is_cleared_is_cleared_there(store, when):
    """Time 0: a clear is meant for thread scope. Time 1: the memory moves into the pool. Time 2: the clear commits.

    Breaks without the scope: the old record is gone, a plan of the old scope is empty, and "cleared" is said of nothing.
    """
    scope = Scope("harold", "t1")
    observed(store, "o1", 1, scope=scope)
    steps = clearing_thread(store, "t1", scope)

    def moved():
        store.run(migrate.migrate(store.keys, "harold", "resource", words, SETTINGS))

    if when == "before it is read":
        moved()
        done = store.run(steps)
    else:
        done = store.run(interrupted(steps, "clear_thread", moved))

    assert (done.outcome, done.observations) == (Outcome.CLEARED, 1)
    assert ids(store) == []


@pytest.mark.parametrize(("retention", "word"), [(0, b"refetch"), (1, b"superseded")])
def test_a_clear_that_does_not_know_every_thread_says_what_to_do_next(store, retention, word):
    seal(store, "c1", 1)
    of, version = store.keys.of("harold"), [record(store).epoch, 1, 0]
    with nothing_changes(store):
        assert (
            call(store, "clear", [of.tokens, of.threads, of.aliases, of.record(HAROLD)], [retention, 1, 0, *version])
            == word
        )


# -- one observation ---------------------------------------------------------------------------------------------------


def forgetting(store, chunk, epoch=None):
    stored = next(s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.id == chunk)
    return clear.forget(store.keys, HAROLD, record(store).epoch if epoch is None else epoch, stored)


def test_a_forgotten_observation_takes_its_messages_along(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2)

    assert store.run(forgetting(store, "o1")) is Outcome.CLEARED
    assert ids(store) == ["o2"]
    assert store.client.exists(store.keys.of("harold").source("o1")) == 0
    assert (record(store).observation_count, record(store).observation_tokens) == (1, 5)


def test_a_forgotten_observation_leaves_the_quarantine_with_every_copy_of_its_entry(store):
    """Catches a copy that came while the owner's word was on its way: it holds what was to be forgotten."""
    observed(store, "o1", 1)
    rejected = store.keys.of("harold").rejected
    entry, other = (b'{"kind":"unobservable","observation":"%s"}' % name for name in (b"o1", b"o2"))
    store.client.rpush(rejected, entry, other)
    store.run(interrupted(forgetting(store, "o1"), "forget", lambda: store.client.rpush(rejected, entry)))

    assert store.client.lrange(rejected, 0, -1) == [other]


@pytest.mark.parametrize("why", ["another memory", "forgotten before", "reflected meanwhile"])
def test_a_refused_forget_changes_nothing(store, why):
    observed(store, "o1", 1)
    late = forgetting(store, "o1", "other" if why == "another memory" else None)
    if why == "forgotten before":
        store.run(forgetting(store, "o1"))
    if why == "reflected meanwhile":
        reflect(store, "o1")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def test_what_a_reflection_let_go_of_is_named_once_when_its_owner_removes_it_too(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2, thread="t2")
    reflect(store, "o1", "o2", text="* of both", dropped=("o1", "o2"))
    store.run(clear.clear_thread(store.keys, HAROLD, "t1", words))
    (made,) = store.run(reading.generations(store.keys, HAROLD))

    assert (made.observation_ids, made.dropped_ids) == (("o2",), ("o1", "o2"))
