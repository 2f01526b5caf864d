"""What is shared with a memory: appended once whoever does it, and known to be gone when its source is."""

import msgspec
import pytest
from scene import interrupted, observed

from om_api.domain.errors import QuotaReachedError
from om_api.domain.values import Observation, Outcome, Scope, SharedFrom
from om_api.store.memory import reading
from om_api.store.sharing import copies

TEAM = Scope("team")


def note(source="c1", text="* We ship in May", **fields):
    came = SharedFrom(resource="harold", observation=source)
    name = copies.copy_id(came, "team")
    made = Observation(
        id=name, thread_id="harold", text=text, tokens=5, origin="shared", shared_from=came, created_at=1
    )
    return msgspec.structs.replace(made, **fields)


def shared(store):
    return [each.observation for each in store.run(reading.observations(store.keys, TEAM))]


def test_a_note_is_appended_once_and_of_two_who_share_at_once_the_second_finds_it(store):
    """Breaks where the script does not compare the seq: both have read that nothing is there."""
    assert store.run(copies.share(store.keys, "team", note("c0"))) is Outcome.ADDED
    assert store.run(copies.share(store.keys, "team", note("c0", created_at=2))) is Outcome.REST
    assert [each.created_at for each in shared(store)] == [1]
    sharing = copies.share(store.keys, "team", note(created_at=2))
    done = store.run(interrupted(sharing, "add_line", lambda: store.run(copies.share(store.keys, "team", note()))))

    assert done is Outcome.REST
    assert [each.created_at for each in shared(store)] == [1, 1]


def test_a_source_shares_no_more_than_its_quota_and_others_still_may(store):
    """Two at once fit alone: the script compares the seq, and the second finds the first."""
    half = copies.MOST_TOKENS // 2 + 1
    sharing = copies.share(store.keys, "team", note("c2", tokens=half))
    first = copies.share(store.keys, "team", note("c1", tokens=half))
    with pytest.raises(QuotaReachedError, match="harold shares too much with team: 10,002 tokens; permitted: 10,000"):
        store.run(interrupted(sharing, "add_line", lambda: store.run(first)))
    other = SharedFrom(resource="ada", observation="c1")
    assert (
        store.run(copies.share(store.keys, "team", note("c3", tokens=half, shared_from=other, id="c3")))
        is Outcome.ADDED
    )
    assert store.run(copies.share(store.keys, "team", note("c4", tokens=half - 4))) is Outcome.ADDED
    of_actor = [note(name, tokens=2, shared_from=None, origin="added", by="harold", id=name) for name in ("c5", "c6")]
    assert store.run(copies.share(store.keys, "team", of_actor[0])) is Outcome.ADDED
    with pytest.raises(QuotaReachedError, match="10,002 tokens"):
        store.run(copies.share(store.keys, "team", of_actor[1]))


def test_a_paused_memory_takes_nothing_and_one_for_each_thread_neither(store):
    store.client.hset(store.keys.of("team").tokens, "*paused", 1)
    store.client.set(store.keys.of("org").scope, "thread")

    assert store.run(copies.share(store.keys, "team", note())) is Outcome.BUSY
    assert store.run(copies.share(store.keys, "org", note())) is Outcome.REJECTED
    assert shared(store) == []
    store.client.delete(store.keys.of("team").tokens, store.keys.of("org").scope)


def test_how_far_it_was_told_never_goes_back(store):
    observed(store, "c1", 1)
    epoch = store.client.hget(store.keys.of("harold").record(Scope("harold")), "epoch").decode()
    did = [
        store.run(copies.note_shared(store.keys, Scope("harold"), of, "team", seq))
        for of, seq in ((epoch, 2), (epoch, 1), ("another", 5), (epoch, 3))
    ]

    assert did == [Outcome.ADDED, Outcome.SUPERSEDED, Outcome.SUPERSEDED, Outcome.ADDED]
    assert store.run(copies.shared_up_to(store.keys, Scope("harold"), ["team", "org"])) == {"team": 3, "org": 0}


def test_a_copy_taken_back_leaves_the_quotes_of_a_thread_with_its_sources_name(store):
    store.run(copies.share(store.keys, "team", note()))
    thread = store.keys.of("team").thread("harold")
    store.client.hset(thread, "retracted", "quote")
    (copy,) = store.run(copies.gone(store.keys, TEAM))
    assert store.run(copies.take_back(store.keys, store.clock, len, "english", TEAM, copy, lambda _: None))
    assert (shared(store), store.client.hget(thread, "retracted")) == ([], b"quote")
    store.client.delete(thread)
