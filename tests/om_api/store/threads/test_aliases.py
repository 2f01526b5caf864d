"""Aliases: what they stand for, what a push and a plain write by one of them come to, and their end."""

from scene import (
    HAROLD,
    adopt,
    aliased,
    call,
    clearing_thread,
    interrupted,
    member,
    message,
    nothing_changes,
    push,
    pushing,
    seal,
    write_plainly,
)

from om_api.domain.values import Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import clear
from om_api.store.memory import seal as seal_steps
from om_api.store.memory.known import learn
from om_api.store.threads.aliases import aliases, resolve, unalias


def raw(store, thread="t1"):
    return [each.decode() for each in store.client.zrange(store.keys.of("harold").messages(thread), 0, -1)]


def through(store, thread, **names):
    return store.run(pushing(store, [message(9, thread)], through=names))


def test_a_name_stands_for_itself_until_it_is_an_alias(store):
    push(store, 1)
    before = store.run(resolve(store.keys, "harold", "t2"))
    store.run(aliased(store, "t2", "t1"))

    assert (before, store.run(resolve(store.keys, "harold", "t2"))) == ("t2", "t1")
    assert store.run(aliases(store.keys, "harold")) == {"t2": "t1"}


def test_a_push_to_an_alias_adds_nothing_and_is_told_the_thread(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    with nothing_changes(store):
        pushed = push(store, 2, thread="t2")

    assert (pushed.added, pushed.alias) == (0, ("t2", "t1"))


def test_a_push_that_names_the_alias_it_came_by_is_taken_while_that_stands_for_its_thread(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    pushed = through(store, "t1", t2="t1")

    assert (pushed.added, pushed.alias) == (1, None)


def test_a_push_by_an_alias_that_is_none_any_more_adds_nothing(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    store.run(unalias(store.keys, "harold", "t2"))
    with nothing_changes(store):
        pushed = through(store, "t1", t2="t1")

    assert pushed.alias == ("t2", "")


def test_a_push_by_an_alias_of_another_thread_is_told_which(store):
    push(store, 1)
    push(store, 3, thread="t3")
    store.run(aliased(store, "t2", "t3"))

    assert through(store, "t1", t2="t1").alias == ("t2", "t3")


def test_the_messages_of_a_batch_are_added_all_or_none(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    with nothing_changes(store):
        store.run(pushing(store, [message(5), message(6, "t2")]))


def test_what_a_plain_writer_puts_under_an_alias_is_adopted_into_its_thread(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    write_plainly(store, member(2), member(1), thread="t2")
    adopted = store.run(adopt(store, "t2"))

    assert (adopted.kept, adopted.dropped) == (2, 0)
    assert [raw(store, "t2"), len(raw(store))] == [[], 2]
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

    assert (adopted.kept, len(raw(store)), raw(store, "t2")) == (2, 2, [])
    assert store.run(verify(store.keys)) == []


def test_a_clear_takes_an_alias_along_that_was_made_since_it_was_planned(store):
    push(store, 1)
    making = lambda: store.run(aliased(store, "new", "t1"))  # noqa: E731
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


def test_an_alias_that_ends_is_a_name_of_its_own_again(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))

    assert store.run(unalias(store.keys, "harold", "t2")) == "t1"
    assert store.run(unalias(store.keys, "harold", "t2")) == ""
    assert push(store, 2, thread="t2").added == 1
    assert store.run(verify(store.keys)) == []


def test_an_older_unsealed_member_is_counted_once(store):
    seal(store, "c1", 1)
    push(store, 2)
    store.run(aliased(store, "t2", "t1"))
    write_plainly(store, member(2), member(1), thread="t2")
    adopted = store.run(adopt(store, "t2"))

    assert (adopted.kept, adopted.dropped) == (1, 1)


def test_what_came_to_a_name_since_it_is_no_alias_is_not_cleared_with_the_thread(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))

    def meanwhile():
        store.run(unalias(store.keys, "harold", "t2"))
        push(store, 2, thread="t2")

    store.run(interrupted(clearing_thread(store, "t1"), "clear_thread", meanwhile))

    assert (len(raw(store)), len(raw(store, "t2"))) == (0, 1)
    assert store.run(verify(store.keys)) == []


def test_clearing_a_thread_takes_along_what_waits_under_its_aliases(store):
    push(store, 1)
    store.run(aliased(store, "t2", "t1"))
    write_plainly(store, member(2), thread="t2")
    store.run(clearing_thread(store, "t1"))

    assert raw(store, "t2") == []
    assert store.run(verify(store.keys)) == []
