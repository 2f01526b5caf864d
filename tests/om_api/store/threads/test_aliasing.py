"""Aliases: how one is made of a thread, what pushes and plain writes by it come to, and its end."""

import pytest
from scene import (
    HAROLD,
    activate,
    adopt,
    aliased,
    at_step,
    buffer,
    call,
    clearing_thread,
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
from stores import empty, fresh

from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.lines.correcting import By
from om_api.store.lines.pinning import pin
from om_api.store.memory import chunks, clear, decoding, kept, reading, scope_state
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.clear import clear_thread
from om_api.store.memory.known import learn
from om_api.store.threads.aliases import aliases, resolve, unalias
from om_api.store.threads.describing import set_memory_mode
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
    assert [key for key in contents(store) if key.endswith(b":t2")] == [store.keys.of("harold").known("t2").encode()]
    with nothing_changes(store):
        assert store.run(aliased(store, "t2", "t1")).messages == 0
    whole(store)


def test_pins_adoptions_and_the_quarantine_come_along(store):
    observed(store, "o1", 1, thread="t2")
    store.run(pin(store.keys, HAROLD, "noted o1", "t2", By("lotte", 1), 100, words))
    write_plainly(store, b'{"id":"x","role":"robot","content":"beep"}', thread="t2")
    store.run(adopt(store, "t2"))
    push(store, 9)
    write_plainly(store, member(2, "t2"), thread="t2")
    made = store.run(aliased(store, "t2", "t1"))

    assert '"thread":"t1"' in record(store).pins
    assert (made.messages, {*ids(store, "t1")}) == (1, {"m1", "m2", "m9"})
    (entry,) = store.client.lrange(store.keys.of("harold").rejected, 0, -1)
    assert b'"thread_id":"t1"' in entry
    whole(store)


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


def test_what_both_have_word_for_word_stands_there_once(store):
    push(store, 1, 2, 3)
    push(store, 1, 2, 4, thread="t2")
    made = store.run(aliased(store, "t2", "t1"))
    assert (made.messages, made.known, ids(store, "t1")) == (3, 2, ["m1", "m2", "m3", "m4"])
    whole(store)
    empty(store)  # nor is it raw again where the thread has observed it
    observed(store, "o1", 1, 2)
    epoch = record(store).epoch
    push(store, 1, 2, 3, thread="t2")
    store.run(aliased(store, "t2", "t1"))
    assert (raw(store), record(store).epoch) == (["m3"], epoch)  # raw messages alone: workers go on
    whole(store)
    empty(store)
    push(store, 1)
    push(store, 5, thread="t2")
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", lambda: push(store, 5)))
    assert store.client.zcard(store.keys.of("harold").messages("t1")) == 2
    whole(store)


def test_what_cannot_be_an_alias_is_refused_and_changes_nothing(store):
    with nothing_changes(store), pytest.raises(NotFoundError, match="harold has no messages of thread t1"):
        store.run(aliased(store, "a", "t1"))
    push(store, 1)
    push(store, 2, thread="t2")
    store.run(aliased(store, "a", "t1"))
    other = message(1, "t3")
    other.content = "something else"
    store.run(pushing(store, [other]))
    observed(store, "o4", 4, thread="t4")
    observed(store, "o5", 4, 5, thread="t5")
    with nothing_changes(store):
        for alias, thread, says in (
            ("t3", "t1", r"t3 and t1 of harold both know 1 ids \(m1\)"),
            ("t5", "t4", "om clear harold --thread t5"),
            ("t1", "t1", "would stand for itself"),
            ("t1", "a", "would stand for itself"),
            ("a", "t2", "a of harold is an alias of t1 already"),
            ("a b", "t1", "alias .* is not an id"),
            ("a", "..", "thread_id .* is not an id"),
        ):
            with pytest.raises(InvalidInputError, match=says):
                store.run(aliased(store, alias, thread))


def test_the_newer_task_holds_and_what_others_wrote_of_a_thread_is_kept(store):
    thread, other = (store.keys.of("harold").thread(name) for name in ("t1", "t2"))
    push(store, 1)
    store.client.hset(thread, mapping={"current_task": "old", "current_task_at": 5, "title": "One", "mine": 1})
    newer = {"current_task": "new", "current_task_at": 9, "current_task_from": "m9", "title": "Two", "theirs": 2}
    store.client.hset(other, mapping=newer)
    store.run(aliased(store, "t2", "t1"))
    expected = {**newer, "title": "One", "mine": 1}
    assert store.client.hgetall(thread) == {k.encode(): str(v).encode() for k, v in expected.items()}
    empty(store)  # a title that somebody gave stays
    push(store, 1)
    push(store, 2, thread="t2")
    store.client.hset(thread, mapping={"title": "Roof", "title_by": "owner"})
    suggested = {"title": "Screws", "title_by": "observer", "title_at": 5, "title_from": "m2"}
    store.client.hset(other, mapping=suggested)
    store.run(aliased(store, "t2", "t1"))
    assert store.client.hgetall(thread) == {b"title": b"Roof", b"title_by": b"owner"}


def test_an_alias_of_an_alias_stands_for_the_thread(store):
    push(store, 1)
    before = contents(store)
    made = store.run(aliased(store, "a", "t1"))
    assert (made.alias, made.thread, made.messages, made.observations) == ("a", "t1", 0, 0)
    after = contents(store)
    assert {key: after[key] for key in before} == before
    store.run(aliased(store, "b", "a"))
    push(store, 2, thread="t2")
    store.run(aliased(store, "t1", "t2"))

    assert store.run(aliases(store.keys, "harold")) == {"a": "t2", "b": "t2", "t1": "t2"}
    assert ids(store, "t2") == ["m1", "m2"]
    whole(store)


def keeps(store, thread, **fields):
    """Write fields of a thread's working memory, each with the time at which it was said."""
    was = store.run(working.read(store.keys, "harold", thread))
    value = {**was.value, **{field: [*each] for field, each in fields.items()}}
    return store.run(working.update(store.keys, HAROLD, thread, was, value, "lotte", 9))


def kept_of(store, thread):
    return {field: value for field, (value, _) in store.run(working.read(store.keys, "harold", thread)).value.items()}


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
    empty(store)  # one that says nothing newer adds no version
    push(store, 1)
    keeps(store, "t1", name=("Ada", 9))
    keeps(store, "t2", name=("Bo", 6))
    store.run(aliased(store, "t2", "t1"))
    assert store.run(working.read(store.keys, "harold", "t1")).version == 1
    assert kept_of(store, "t1") == {"name": "Ada"}


def test_a_field_that_is_written_meanwhile_is_kept(store):
    """Time 0: a client reads both. Time 1: an Actor writes a field. Time 2: what was read would be written over it."""
    for thread in fresh(store, ["t1", "t2"]):
        push(store, 1)
        keeps(store, "t1", name=("Ada", 5))
        keeps(store, "t2", city=("Graz", 5))

        def writing(thread=thread):
            return keeps(store, thread, hobby=("tea", 7))

        store.run(interrupted(aliased(store, "t2", "t1"), "alias", writing))
        assert kept_of(store, "t1") == {"name": "Ada", "city": "Graz", "hobby": "tea"}
        assert kept_of(store, "t2") == {}
    empty(store)  # the first one that is kept there at all
    push(store, 1)
    push(store, 2, thread="t2")
    store.run(interrupted(aliased(store, "t2", "t1"), "alias", lambda: keeps(store, "t2", hobby=("tea", 7))))
    assert (kept_of(store, "t1"), kept_of(store, "t2")) == ({"hobby": "tea"}, {})


def test_in_thread_scope_raw_messages_move_and_a_memory_of_its_own_is_refused(store):
    observed(store, "o1", 1, scope=Scope("harold", "t1"))
    push(store, 2, thread="t2", thread_scope=True)
    store.run(aliased(store, "t2", "t1", Scope("harold", "t2")))
    assert raw(store, "t1", Scope("harold", "t1")) == ["m2"]
    whole(store)
    observed(store, "o3", 3, thread="t3", scope=Scope("harold", "t3"))
    with nothing_changes(store), pytest.raises(InvalidInputError, match="thread t3 of harold has a memory of its own"):
        store.run(aliased(store, "t3", "t1", Scope("harold", "t3")))


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


def test_what_comes_meanwhile_is_neither_lost_nor_left_behind(store):
    for what in fresh(store, changes(store)):
        everything(store)
        store.run(interrupted(aliased(store, "t2", "t1"), "alias", changes(store)[what]))
        if what == "a chunk becomes ready":  # what a model answered is not thrown away
            assert [chunk.ready for chunk in store.run(scope_state.look(store.keys, HAROLD)).chunks] == [True, True]
        store.run(adopt(store, "t2"))

        assert len(ids(store, "t1")) == len({*ids(store, "t1")}), what
        assert (ids(store, "t2"), of_thread(store, "t2")) == ([], []), what
        assert {*store.run(aliases(store.keys, "harold")).values()} == {"t1"}, what
        whole(store)


def test_it_is_whole_at_every_step(store):
    for number in fresh(store, range(8)):
        everything(store)
        store.run(at_step(aliased(store, "t2", "t1"), number, lambda: push(store, 6, thread="t2")))
        push(store, 6, thread="t2")
        assert len(ids(store, "t1")) in {7, 8}, number
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


def members_of(store, thread="t1"):
    return [each.decode() for each in store.client.zrange(store.keys.of("harold").messages(thread), 0, -1)]


def through(store, thread, **names):
    return store.run(pushing(store, [message(9, thread)], through=names))


def test_a_push_to_or_by_an_alias_is_added_only_where_that_stands_for_its_thread(store):
    push(store, 1)
    push(store, 3, thread="t3")
    assert store.run(resolve(store.keys, "harold", "t2")) == "t2"
    store.run(aliased(store, "t2", "t1"))
    assert store.run(resolve(store.keys, "harold", "t2")) == "t1"
    with nothing_changes(store):
        pushed = push(store, 2, thread="t2")
        assert (pushed.added, pushed.alias) == (0, ("t2", "t1"))
        store.run(pushing(store, [message(5), message(6, "t2")]))  # all of a batch or none
        assert through(store, "t3", t2="t3").alias == ("t2", "t1")
    pushed = through(store, "t1", t2="t1")
    assert (pushed.added, pushed.alias) == (1, None)

    assert store.run(unalias(store.keys, "harold", "t2")) == "t1"
    assert store.run(unalias(store.keys, "harold", "t2")) == ""
    with nothing_changes(store):
        assert through(store, "t1", t2="t1").alias == ("t2", "")
    assert push(store, 2, thread="t2").added == 1
    assert store.run(aliases(store.keys, "harold")) == {}
    assert store.run(verify(store.keys)) == []


def test_what_a_plain_writer_puts_under_an_alias_is_adopted_into_its_thread(store):
    seal(store, "c1", 1)
    push(store, 2)
    store.run(aliased(store, "t2", "t1"))
    write_plainly(store, member(3), member(2), member(1), thread="t2")
    adopted = store.run(adopt(store, "t2"))

    assert (adopted.kept, adopted.dropped) == (2, 1)  # an older unsealed member is counted once
    assert [members_of(store, "t2"), len(members_of(store))] == [[], 2]
    write_plainly(store, member(4), thread="t2")
    store.run(clearing_thread(store, "t1"))
    assert members_of(store, "t2") == []
    assert store.run(verify(store.keys)) == []


def test_what_was_put_under_a_name_that_is_no_alias_any_more_stays_there(store):
    """Time 0: a worker reads that it is one. Time 1: it is none. Time 2: nothing is moved."""
    of = store.keys.of("harold")
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    store.run(unalias(store.keys, "harold", "t2"))
    write_plainly(store, member(2), thread="t2")
    with nothing_changes(store):
        assert call(store, "readdress", [of.messages("t2"), of.known("t2"), of.messages("t1")], ["t1"]) == b"superseded"


def test_what_is_written_again_under_a_name_that_became_an_alias_is_counted_in_its_thread(store):
    """Time 0: a worker reads what waits there. Time 1: it becomes an alias. Time 2: the same comes again. Time 3: it counts."""

    def meanwhile():
        store.run(aliased(store, "t2", "t1"))
        write_plainly(store, member(2), thread="t2")

    push(store, 1)
    write_plainly(store, member(2), thread="t2")
    adopted = store.run(interrupted(adopt(store, "t2"), "adopt", meanwhile))

    assert (adopted.kept, len(members_of(store)), members_of(store, "t2")) == (2, 2, [])
    assert store.run(verify(store.keys)) == []


def test_a_clear_takes_an_alias_along_that_was_made_since_it_was_planned(store):
    push(store, 1)

    def making():
        return store.run(aliased(store, "new", "t1"))

    store.run(interrupted(clear.clear(store.keys, "harold"), "clear", making))

    assert push(store, 2, thread="new").alias is None
    assert store.run(verify(store.keys)) == []


def test_nothing_is_sealed_counted_or_learned_under_an_alias(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    write_plainly(store, member(2), thread="t2")
    with nothing_changes(store):
        sealing = seal_steps.seal(store.keys, HAROLD, "", "t2", [member(2)], 10)
        assert store.run(sealing) is Outcome.SUPERSEDED
        store.run(learn(store.keys, HAROLD, ["t2"], complete=False))


def test_what_came_to_a_name_since_it_is_no_alias_is_not_cleared_with_the_thread(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))

    def meanwhile():
        store.run(unalias(store.keys, "harold", "t2"))
        push(store, 2, thread="t2")

    store.run(interrupted(clearing_thread(store, "t1"), "clear_thread", meanwhile))

    assert (len(members_of(store)), len(members_of(store, "t2"))) == (0, 1)
    assert store.run(verify(store.keys)) == []


def test_a_mode_that_is_set_meanwhile_keeps_two_threads_apart(store):
    """Time 0: two threads of one mode are to be joined. Time 1: one is set to leave no memory. Time 2: nothing is joined."""
    push(store, 1)
    push(store, 2, thread="t2")
    setting = set_memory_mode(store.keys, "harold", "t2", "off")
    with pytest.raises(InvalidInputError, match="memory modes of harold differ"):
        store.run(interrupted(aliased(store, "t2", "t1"), "alias", lambda: store.run(setting)))
