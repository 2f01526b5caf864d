"""Making an alias: what it holds becomes the thread's in every tier, in one step, nothing lost and nothing twice."""

import pytest
from scene import (
    HAROLD,
    activate,
    adopt,
    aliased,
    at_step,
    buffer,
    call,
    contents,
    interrupted,
    member,
    message,
    nothing_changes,
    observation,
    observed,
    push,
    pushing,
    ready,
    record,
    reflect,
    seal,
    words,
    write_plainly,
)

from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.lines.correcting import By
from om_api.store.lines.pinning import pin
from om_api.store.memory import chunks, decoding, kept, reading, scope_state
from om_api.store.memory.clear import clear_thread
from om_api.store.threads.aliases import aliases
from om_api.store.working import working

SECTIONS = '* common\n<thread id="t2">\n* of two\n</thread>\n<thread id="t1">\n* of one\n</thread>'


def everything(store):
    """A thread with something in every tier, and another one."""
    observed(store, "o1", 1, thread="t2")
    reflect(store, "o1", text=SECTIONS)
    observed(store, "o2", 2, thread="t2")
    ready(store, "c3", 3, thread="t2")
    seal(store, "c4", 4, thread="t2")
    push(store, 5, thread="t2")
    observed(store, "p1", 11)
    push(store, 12)


def ids(store, thread, scope=HAROLD):
    found = store.run(kept.kept(store.keys, scope, thread, lambda _: False))
    return [each.id for each in found]


def raw(store, thread="t1", scope=HAROLD):
    return [each.id for each in store.run(kept.living(store.keys, scope, thread))]


def whole(store):
    assert store.run(verify(store.keys)) == []


def of_thread(store, thread):
    seen = store.run(reading.observations(store.keys, HAROLD))
    return [each.observation.id for each in seen if each.observation.thread_id == thread]


def test_a_new_name_stands_for_a_thread_and_nothing_else_changes(store):
    push(store, 1)
    before = contents(store)
    made = store.run(aliased(store, "new", "t1"))

    assert (made.alias, made.thread, made.messages, made.observations) == ("new", "t1", 0, 0)
    after = contents(store)
    assert {key: after[key] for key in before} == before
    whole(store)


def test_whatever_an_alias_holds_is_its_threads(store):
    everything(store)
    made = store.run(aliased(store, "t2", "t1"))

    assert (made.messages, made.known, made.observations) == (3, 0, 1)
    assert ids(store, "t1") == ["m1", "m2", "m3", "m4", "m5", "m11", "m12"]
    assert (ids(store, "t2"), of_thread(store, "t1"), of_thread(store, "t2")) == ([], ["o2", "p1"], [])
    (generation,) = store.run(reading.generations(store.keys, HAROLD))
    assert generation.text == SECTIONS.replace("t2", "t1")
    (old,) = store.run(reading.replaced(store.keys, HAROLD, 1))
    assert old.observation.thread_id == "t1"
    whole(store)


def test_no_key_of_an_alias_is_left_but_what_it_stands_for(store):
    everything(store)
    store.run(aliased(store, "t2", "t1"))

    assert [key for key in contents(store) if key.endswith(b":t2")] == [store.keys.of("harold").known("t2").encode()]


def test_a_chunk_that_a_model_is_asked_about_is_another_one_by_now(store):
    everything(store)
    noted = observation(store, "c4", "t2")
    epoch = record(store).epoch
    store.run(aliased(store, "t2", "t1"))
    said = chunks.buffer(store.keys, "harold", noted, "w1")

    assert store.run(said) is Outcome.SUPERSEDED
    assert record(store).epoch != epoch
    left = store.run(scope_state.look(store.keys, HAROLD)).chunks
    assert [(chunk.thread, chunk.ready, chunk.attempts) for chunk in left] == [("t1", True, 0), ("t1", False, 0)]
    assert decoding.as_observation(left[0].observation).thread_id == "t1"


def test_a_memory_of_which_only_raw_messages_move_stays_what_a_model_was_asked_about(store):
    observed(store, "o1", 1)
    push(store, 2, thread="t2")
    epoch = record(store).epoch
    store.run(aliased(store, "t2", "t1"))

    assert record(store).epoch == epoch
    whole(store)


def test_what_is_pinned_of_an_alias_is_pinned_of_its_thread(store):
    observed(store, "o1", 1, thread="t2")
    store.run(pin(store.keys, HAROLD, "noted o1", "t2", By("lotte", 1), 100, words))
    store.run(aliased(store, "t2", "t1") if push(store, 9) else None)

    assert '"thread":"t1"' in record(store).pins
    whole(store)


def test_a_quarantined_entry_goes_back_into_the_thread(store):
    push(store, 1)
    write_plainly(store, b'{"id":"x","role":"robot","content":"beep"}', thread="t2")
    store.run(adopt(store, "t2"))
    store.run(aliased(store, "t2", "t1"))

    (entry,) = store.client.lrange(store.keys.of("harold").rejected, 0, -1)
    assert b'"thread_id":"t1"' in entry


def test_what_both_have_word_for_word_stands_there_once(store):
    push(store, 1, 2, 3)
    push(store, 1, 2, 4, thread="t2")
    made = store.run(aliased(store, "t2", "t1"))

    assert (made.messages, made.known, ids(store, "t1")) == (3, 2, ["m1", "m2", "m3", "m4"])
    whole(store)


def test_what_the_thread_has_observed_is_not_raw_in_it_again(store):
    observed(store, "o1", 1, 2)
    push(store, 1, 2, 3, thread="t2")
    store.run(aliased(store, "t2", "t1"))

    assert raw(store) == ["m3"]
    whole(store)


def test_two_messages_of_one_id_that_differ_are_refused(store):
    push(store, 1)
    other = message(1, "t2")
    other.content = "something else"
    store.run(pushing(store, [other]))
    with nothing_changes(store), pytest.raises(InvalidInputError, match=r"t2 and t1 of harold both know 1 ids \(m1\)"):
        store.run(aliased(store, "t2", "t1"))


def test_a_message_that_was_observed_in_both_is_refused(store):
    observed(store, "o1", 1)
    observed(store, "o2", 1, 2, thread="t2")
    with nothing_changes(store), pytest.raises(InvalidInputError, match=r"om clear harold --thread t2"):
        store.run(aliased(store, "t2", "t1"))


def test_what_waits_for_adoption_comes_along(store):
    push(store, 1)
    write_plainly(store, member(2), thread="t2")
    made = store.run(aliased(store, "t2", "t1"))

    assert (made.messages, {*ids(store, "t1")}) == (1, {"m1", "m2"})
    whole(store)


def test_the_newer_task_holds_and_what_others_wrote_of_a_thread_is_kept(store):
    of = store.keys.of("harold")
    push(store, 1)
    store.client.hset(of.thread("t1"), mapping={"current_task": "old", "current_task_at": 5, "title": "One", "mine": 1})
    newer = {"current_task": "new", "current_task_at": 9, "current_task_from": "m9", "title": "Two", "theirs": 2}
    store.client.hset(of.thread("t2"), mapping=newer)
    store.run(aliased(store, "t2", "t1"))

    expected = {**newer, "title": "One", "mine": 1}
    assert store.client.hgetall(of.thread("t1")) == {k.encode(): str(v).encode() for k, v in expected.items()}


def test_an_alias_of_an_alias_stands_for_the_thread(store):
    push(store, 1)
    store.run(aliased(store, "a", "t1"))
    store.run(aliased(store, "b", "a"))
    push(store, 2, thread="t2")
    store.run(aliased(store, "t1", "t2"))

    assert store.run(aliases(store.keys, "harold")) == {"a": "t2", "b": "t2", "t1": "t2"}
    assert ids(store, "t2") == ["m1", "m2"]
    whole(store)


@pytest.mark.parametrize(("alias", "thread"), [("t1", "t1"), ("t1", "a")])
def test_a_thread_that_would_stand_for_itself_is_refused(store, alias, thread):
    push(store, 1)
    store.run(aliased(store, "a", "t1"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="would stand for itself"):
        store.run(aliased(store, alias, thread))


def test_an_alias_of_another_thread_is_refused(store):
    push(store, 1)
    push(store, 2, thread="t2")
    store.run(aliased(store, "a", "t1"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="a of harold is an alias of t1 already"):
        store.run(aliased(store, "a", "t2"))


def test_an_alias_of_nothing_is_refused(store):
    with nothing_changes(store), pytest.raises(NotFoundError, match="harold has no thread t1"):
        store.run(aliased(store, "a", "t1"))


@pytest.mark.parametrize(("alias", "thread", "what"), [("a b", "t1", "alias"), ("a", "..", "thread_id")])
def test_what_is_no_name_is_refused(store, alias, thread, what):
    with pytest.raises(InvalidInputError, match=f"{what} .* is not an id"):
        store.run(aliased(store, alias, thread))


def test_making_it_again_changes_nothing(store):
    everything(store)
    store.run(aliased(store, "t2", "t1"))
    with nothing_changes(store):
        assert store.run(aliased(store, "t2", "t1")).messages == 0


# -- each thread a memory of its own ------------------------------------------------------------------------------------


def test_in_thread_scope_raw_messages_move(store):
    observed(store, "o1", 1, scope=Scope("harold", "t1"))
    push(store, 2, thread="t2", thread_scope=True)
    store.run(aliased(store, "t2", "t1", Scope("harold", "t2")))

    assert raw(store, "t1", Scope("harold", "t1")) == ["m2"]
    whole(store)


def keeps(store, thread, **fields):
    """Write fields of a thread's working memory, each with the time at which it was said."""
    was = store.run(working.read(store.keys, "harold", thread))
    value = {**was.value, **{field: [*each] for field, each in fields.items()}}
    return store.run(working.update(store.keys, HAROLD, thread, was, value, "lotte", 9))


def kept_of(store, thread):
    return {field: value for field, (value, _) in store.run(working.read(store.keys, "harold", thread)).value.items()}


def test_a_working_memory_of_its_own_is_the_threads(store):
    push(store, 1)
    keeps(store, "t2", name=("Ada", 5))
    keeps(store, "t2", name=("Bo", 6))
    store.run(aliased(store, "t2", "t1"))

    assert kept_of(store, "t1") == {"name": "Bo"}
    assert [each.fields for each in store.run(working.versions(store.keys, "harold", "t1"))] == [{"name": "Ada"}]
    assert [name for name in store.client.hkeys(store.keys.of("harold").working) if name.endswith(b":t2")] == []
    whole(store)


def test_of_two_working_memories_each_field_is_the_one_that_was_said_last(store):
    push(store, 1)
    for at in (1, 2, 3, 4):
        keeps(store, "t1", name=("Ada", 9), city=("Graz", at))
    keeps(store, "t2", name=("Bo", 6), city=("Rome", 6))
    store.run(aliased(store, "t2", "t1"))

    assert kept_of(store, "t1") == {"name": "Ada", "city": "Rome"}
    now = store.run(working.read(store.keys, "harold", "t1"))
    assert (now.version, now.by, now.shown) == (5, "lotte", now.value)
    assert [each.version for each in store.run(working.versions(store.keys, "harold", "t1"))] == [2, 3, 4]
    whole(store)


def test_a_working_memory_that_says_nothing_newer_adds_no_version(store):
    push(store, 1)
    keeps(store, "t1", name=("Ada", 9))
    keeps(store, "t2", name=("Bo", 6))
    store.run(aliased(store, "t2", "t1"))

    assert store.run(working.read(store.keys, "harold", "t1")).version == 1
    assert kept_of(store, "t1") == {"name": "Ada"}


@pytest.mark.parametrize("thread", ["t1", "t2"])
def test_a_field_that_is_written_meanwhile_is_kept(store, thread):
    """Time 0: a client reads both. Time 1: an Actor writes a field. Time 2: what was read would be written over it."""
    push(store, 1)
    keeps(store, "t1", name=("Ada", 5))
    keeps(store, "t2", city=("Graz", 5))
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", lambda: keeps(store, thread, hobby=("tea", 7))))

    assert kept_of(store, "t1") == {"name": "Ada", "city": "Graz", "hobby": "tea"}
    assert kept_of(store, "t2") == {}


def test_the_first_field_that_is_written_meanwhile_is_kept(store):
    """Time 0: nothing is kept under the alias. Time 1: an Actor writes there, and is answered. Time 2: it becomes an alias."""
    push(store, 1)
    push(store, 2, thread="t2")
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", lambda: keeps(store, "t2", hobby=("tea", 7))))

    assert (kept_of(store, "t1"), kept_of(store, "t2")) == ({"hobby": "tea"}, {})


def test_a_title_that_somebody_gave_stays_his(store):
    push(store, 1)
    push(store, 2, thread="t2")
    of = store.keys.of("harold")
    store.client.hset(of.thread("t1"), mapping={"title": "Roof", "title_by": "owner"})
    suggested = {"title": "Screws", "title_by": "observer", "title_at": 5, "title_from": "m2"}
    store.client.hset(of.thread("t2"), mapping=suggested)
    store.run(aliased(store, "t2", "t1"))

    assert store.client.hgetall(of.thread("t1")) == {b"title": b"Roof", b"title_by": b"owner"}


def test_in_thread_scope_a_memory_of_its_own_is_refused(store):
    push(store, 1, thread_scope=True)
    observed(store, "o2", 2, thread="t2", scope=Scope("harold", "t2"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="thread t2 of harold has a memory of its own"):
        store.run(aliased(store, "t2", "t1", Scope("harold", "t2")))


# -- races --------------------------------------------------------------------------------------------------------------


def changes(store):
    """What may happen while an alias is made: to what it holds, and to the memory."""
    return {
        "a push": lambda: push(store, 6, thread="t2"),
        "a push to the thread": lambda: push(store, 6),
        "the same message in both": lambda: push(store, 5),
        "a plain write": lambda: write_plainly(store, member(7), thread="t2"),
        "a seal": lambda: seal(store, "c6", 6, thread="t2"),
        "a chunk becomes ready": lambda: buffer(store, "c4", thread="t2"),
        "an observation": lambda: activate(store, "c3"),
        "another alias": lambda: store.run(aliased(store, "older", "t2")),
    }


@pytest.mark.parametrize("what", changes(None))
def test_what_comes_meanwhile_is_neither_lost_nor_left_behind(store, what):
    everything(store)
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", changes(store)[what]))
    store.run(adopt(store, "t2"))

    assert len(ids(store, "t1")) == len({*ids(store, "t1")})
    assert (ids(store, "t2"), of_thread(store, "t2")) == ([], [])
    assert {*store.run(aliases(store.keys, "harold")).values()} == {"t1"}
    whole(store)


def test_what_a_model_answered_meanwhile_is_not_thrown_away(store):
    everything(store)
    answering = lambda: buffer(store, "c4", thread="t2")  # noqa: E731
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", answering))

    assert [chunk.ready for chunk in store.run(scope_state.look(store.keys, HAROLD)).chunks] == [True, True]


def test_what_comes_into_both_meanwhile_stands_there_once(store):
    push(store, 1)
    push(store, 5, thread="t2")
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", lambda: push(store, 5)))

    assert store.client.zcard(store.keys.of("harold").messages("t1")) == 2
    whole(store)


@pytest.mark.parametrize("number", range(8))
def test_it_is_whole_at_every_step(store, number):
    everything(store)
    store.run(at_step(aliased(store, "t2", "t1"), number, lambda: push(store, 6, thread="t2")))
    push(store, 6, thread="t2")

    assert len(ids(store, "t1")) in {7, 8}
    whole(store)


def test_an_alias_that_names_too_few_of_its_own_is_refused(store):
    of = store.keys.of("harold")
    push(store, 1)
    push(store, 2, thread="t2")
    fixed = [of.scope, of.record(HAROLD), of.tokens, of.threads, of.rejected, of.draft(HAROLD), of.aliases]
    fixed += [of.chunks(HAROLD), of.observations(HAROLD), of.reflections(HAROLD)]
    for thread in ("t2", "t1"):
        fixed += [of.messages(thread), of.known(thread), of.thread(thread), of.sources(thread)]
    fixed += [of.working]
    args = ["resource", "", "", "0", "0", 0, "", "", "t2", "t1", *[0] * 8]
    with nothing_changes(store):
        assert call(store, "alias", fixed, args) == b"superseded"


def test_a_thread_that_becomes_an_alias_while_it_is_cleared_is_cleared_by_its_new_name(store):
    """Time 0: t2 is read, to be cleared. Time 1: it becomes an alias of t1. Time 2: its pushes would no longer meet that."""
    push(store, 1)
    push(store, 2, thread="t2")
    clearing = clear_thread(store.keys, HAROLD, "t2", words)
    store.run(interrupted(clearing, "clear_thread", lambda: store.run(aliased(store, "t2", "t1"))))

    assert (ids(store, "t1"), ids(store, "t2")) == ([], [])
    assert store.client.hget(store.keys.of("harold").known("t2"), "=") == b"t1"
    assert store.run(aliases(store.keys, "harold")) == {"t2": "t1"}
    whole(store)
