"""What is said of a thread, and lists of them: decided by the store, whatever happens meanwhile."""

import pytest
from scene import activate, aliased, clearing_thread, interrupted, nothing_changes, observed, push, ready

from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.store.audit.verify import verify
from om_api.store.threads.describing import ThreadsWanted, describe, listed


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


def test_a_thread_that_was_cleared_is_not_begun_by_what_is_said_of_it(store):
    push(store, 1)
    naming = interrupted(said(store, title="One"), "describe", lambda: store.run(clearing_thread(store, "t1")))
    with pytest.raises(NotFoundError):
        store.run(naming)

    assert of(store) == {}


def test_a_push_that_was_known_before_leaves_a_thread_archived(store):
    push(store, 1)
    store.run(said(store, archived=True))
    push(store, 1)
    still = names(store, archived=True)
    push(store, 2)

    assert (still, names(store, archived=True), names(store)) == (["t1"], [], ["t1"])


def test_a_message_alone_brings_a_thread_back_too(store):
    """Which no worker need look at: the script has a shorter way for it."""
    push(store, 1)
    store.client.hset(store.keys.of("harold").tokens, "*wake", 10_000)
    push(store, 2)
    store.run(said(store, archived=True))
    push(store, 3)

    assert names(store) == ["t1"]


def test_a_batch_brings_back_each_thread_that_it_adds_to_and_no_other(store):
    for thread in ("t1", "t2"):
        push(store, 1, thread=thread)
        store.run(said(store, thread, archived=True))
    push(store, 2, 3, thread="t2")

    assert (names(store), names(store, archived=True)) == (["t2"], ["t1"])


def test_no_suggestion_takes_the_place_of_a_title_without_a_name(store):
    """As older programs wrote it: somebody set it."""
    observed(store, "o1", 1)
    store.client.hset(store.keys.of("harold").thread("t1"), "title", "Mine")
    ready(store, "c2", 2)
    key = store.keys.of("harold").chunk("c2")
    noted = store.client.hget(key, "observation")
    titled = noted.replace(b'"extracted":{}', b'"extracted":{"thread-title":"The roof"}')
    store.client.hset(key, "observation", titled)
    activate(store, "c2")

    assert titled != noted
    assert (of(store)[b"title"], int(of(store)[b"observed_at"]) > 0) == (b"Mine", True)


@pytest.mark.parametrize("wanted", [{"limit": 0}, {"order": "size"}, {"order": "activity", "after": "t1"}])
def test_what_cannot_be_listed_is_refused(store, wanted):
    with nothing_changes(store), pytest.raises(InvalidInputError):
        names(store, **wanted)
