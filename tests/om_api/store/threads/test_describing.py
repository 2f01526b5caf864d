"""What is said of a thread, lists of threads, and copies of one."""

import pytest
from scene import (
    HAROLD,
    activate,
    adopt,
    aliased,
    clearing_thread,
    interrupted,
    member,
    nothing_changes,
    observed,
    push,
    ready,
    write_plainly,
)

from om_api.domain.errors import InvalidInputError, NotFoundError, QuotaReachedError
from om_api.domain.values import CopiedFrom
from om_api.store.audit.verify import verify
from om_api.store.threads.copying import abandon, begin, to_copy
from om_api.store.threads.describing import MOST_WITHOUT_MESSAGES, ThreadsWanted, describe, listed, set_memory_mode

ORIGIN = CopiedFrom(resource_id="harold", thread_id="t1", message_id="m1")


def said(store, thread="t1", archived=None, **fields):
    return describe(store.keys, "harold", thread, fields, archived=archived)


def of(store, thread="t1"):
    return store.client.hgetall(store.keys.of("harold").thread(thread))


def names(store, **how):
    return [each.id for each in store.run(listed(store.keys, "harold", ThreadsWanted(**how)))]


def test_what_is_said_of_a_name_that_becomes_an_alias_is_said_of_its_thread(store):
    push(store, 1)
    push(store, 2, thread="t2")
    naming = said(store, "t2", title="Two", title_by="owner")
    named = store.run(interrupted(naming, "describe", lambda: store.run(aliased(store, "t2", "t1"))))

    assert (named, of(store)[b"title"], of(store, "t2")) == ("t1", b"Two", {})
    assert store.run(verify(store.keys)) == []


def test_a_thread_that_leaves_memory_again_is_due_at_its_next_push(store):
    """Time 0: its mode is set to full. Time 1: the client dies before it marks the thread due. Time 2: a message is pushed."""
    push(store, 1)
    store.run(set_memory_mode(store.keys, "harold", "t1", "off"))
    store.client.hset(store.keys.of("harold").tokens, "*wake", 10_000)
    store.run(set_memory_mode(store.keys, "harold", "t1", "full"))
    assert push(store, 2).due


def test_memory_modes_of_threads_without_messages_are_limited(store):
    """Catches fields of the tokens hash, which every read of a memory reads, that no push limit counts."""
    for n in range(3):
        push(store, n, thread=f"t{n}")
        store.run(set_memory_mode(store.keys, "harold", f"t{n}", "write_only"))
    observed(store, "o1", 0, thread="t0")  # nothing of it is raw
    begun = {f"*memory:m{n}": "off" for n in range(MOST_WITHOUT_MESSAGES - 1)}
    store.client.hset(store.keys.of("harold").tokens, mapping=begun)

    def mode(thread, memory="off"):
        return store.run(set_memory_mode(store.keys, "harold", thread, memory))[1]

    assert mode("new")
    store.run(begin(store.keys, ORIGIN, "harold", "copy", 5))
    for thread in ("more", "copy"):
        with nothing_changes(store), pytest.raises(QuotaReachedError, match=r"harold .*: 1,000; write to them"):
            mode(thread)
    assert (mode("m1", "read_only"), mode("more", "full"), mode("t1", "full")) == (True, False, True)
    push(store, 9, thread="new")  # which has a message from now on
    assert mode("more")
    store.run(clearing_thread(store, "m2"))
    assert mode("last")


def test_a_thread_that_was_cleared_is_not_begun_by_what_is_said_of_it(store):
    push(store, 1)
    naming = interrupted(said(store, title="One"), "describe", lambda: store.run(clearing_thread(store, "t1")))
    with pytest.raises(NotFoundError):
        store.run(naming)

    assert of(store) == {}


def test_a_new_message_brings_an_archived_thread_back_and_no_other(store):
    for thread in ("t1", "t2"):
        push(store, 1, thread=thread)
        store.run(said(store, thread, archived=True))
    push(store, 1)  # known before
    assert (names(store), {*names(store, archived=True)}) == ([], {"t1", "t2"})
    push(store, 2, 3, thread="t2")
    assert (names(store), names(store, archived=True)) == (["t2"], ["t1"])
    store.client.hset(store.keys.of("harold").tokens, "*wake", 10_000)  # the script has a shorter way for one message
    push(store, 4)
    assert names(store, archived=True) == []
    for n, still in ((4, ["t1"]), (5, [])):  # by a plain writer: known before, and new
        store.run(said(store, "t1", archived=True))
        write_plainly(store, member(n))
        store.run(adopt(store))
        assert names(store, archived=True) == still, n


def test_a_suggested_title_replaces_none_that_a_person_gave_even_without_a_name(store):
    observed(store, "o1", 1)
    store.client.hset(store.keys.of("harold").thread("t1"), "title", "Mine")  # as older programs wrote it
    ready(store, "c2", 2)
    key = store.keys.of("harold").chunk("c2")
    noted = store.client.hget(key, "observation")
    titled = noted.replace(b'"extracted":{}', b'"extracted":{"thread-title":"The roof"}')
    store.client.hset(key, "observation", titled)
    activate(store, "c2")

    assert titled != noted
    assert (of(store)[b"title"], int(of(store)[b"observed_at"]) > 0) == (b"Mine", True)


def test_what_cannot_be_listed_is_refused(store):
    with nothing_changes(store):
        for wanted in ({"limit": 0}, {"order": "size"}, {"order": "activity", "after": "t1"}):
            with pytest.raises(InvalidInputError):
                names(store, **wanted)
                pytest.fail(f"{wanted} is permitted")


def ids(store, until=None, *, apart=False):
    return [each.id for each in store.run(to_copy(store.keys, HAROLD, "t1", until, apart=apart))]


def test_a_thread_that_begins_meanwhile_is_left_alone(store):
    push(store, 1)
    copying = interrupted(begin(store.keys, ORIGIN, "harold", "t9", 5), "copy", lambda: push(store, 2, thread="t9"))
    with pytest.raises(InvalidInputError, match="harold has a thread t9 already"):
        store.run(copying)

    assert not store.client.exists(store.keys.of("harold").thread("t9"))


def test_a_copy_that_has_messages_is_not_abandoned(store):
    """Time 0: two clients begin a copy. Time 1: the messages of one are accepted. Time 2: those of the other are refused."""
    store.run(begin(store.keys, ORIGIN, "harold", "t9", 5))
    push(store, 2, thread="t9")
    with nothing_changes(store):
        store.run(abandon(store.keys, ORIGIN, "harold", "t9"))
        store.run(abandon(store.keys, ORIGIN, "harold", "t1"))


def test_within_a_memory_a_copy_holds_what_is_not_observed(store):
    observed(store, "o1", 1, 2)
    push(store, 3, 4)

    assert (ids(store), ids(store, "m3")) == (["m3", "m4"], ["m3"])
    assert (ids(store, "m2"), ids(store, apart=True)) == (["m1", "m2"], ["m1", "m2", "m3", "m4"])
