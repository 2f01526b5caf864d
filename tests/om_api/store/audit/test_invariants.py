"""What must hold of a resource: whatever breaks it by hand is named with its key."""

import msgspec
import pytest
from scene import AT, HAROLD, breaches, filled, key_of, member, moving, observed, reflect, segment, words

from om_api.domain.values import Outcome, Scope
from om_api.recall.analysis import VERSION
from om_api.store.audit.invariants import Breach
from om_api.store.memory import reading

OTHER_VERSION = b"omr\x01\xff\xff" + bytes(40)


def _said_to_be_indexed(store):
    store.client.hset(key_of(store, "record", HAROLD), "indexed", VERSION)


BREAKS = {
    "a chunk without its sealed set": (lambda s: s.client.delete(key_of(s, "sealed", "c5")), "sealed:c5", "nowhere"),
    "an alias that holds something": (
        lambda s: s.client.hset(key_of(s, "known", "t2"), "=", "t1") + s.client.hset(key_of(s, "aliases"), "t2", "t1"),
        "aliases",
        "which nobody reads there",
    ),
    "a working memory that cannot be read": (
        lambda s: s.client.hset(key_of(s, "working"), "value:", b"[]"),
        "working",
        "field value: cannot be read",
    ),
    "a field that is no working memory's": (
        lambda s: s.client.hset(key_of(s, "working"), "colour", b"red"),
        "working",
        "is none of ours",
    ),
    "a working memory of an alias": (
        lambda s: (
            s.client.hset(key_of(s, "known", "t9"), "=", "t1")
            + s.client.hset(key_of(s, "aliases"), "t9", "t1")
            + s.client.hset(key_of(s, "working"), mapping={"version:t9": 1, "value:t9": b'{"name":["Ada",1]}'})
        ),
        "working",
        "nobody reads it: unalias t9, and make it an alias again",
    ),
    "an alias of an alias": (
        lambda s: s.client.hset(key_of(s, "aliases"), mapping={"t8": "t9", "t9": "t1"}),
        "aliases",
        "is an alias itself",
    ),
    "an alias that pushes do not meet": (
        lambda s: s.client.hset(key_of(s, "aliases"), "t9", "t1"),
        "known:t9",
        "is not that of an alias of t1",
    ),
    "pushes that are sent on for nothing": (
        lambda s: s.client.hset(key_of(s, "known", "t2"), "=", "t1"),
        "known:t2",
        "is not that of an alias of none",
    ),
    "a chunk without its hash": (lambda s: s.client.delete(key_of(s, "chunk", "c5")), "chunk:c5", "is missing"),
    "a sealed set without chunk": (
        lambda s: s.client.zadd(key_of(s, "sealed", "c9"), {b"{}": 1}),
        "sealed:c9",
        "belongs to no chunk",
    ),
    "a chunk that no index names": (
        lambda s: s.client.zrem(key_of(s, "chunks", HAROLD), "c5"),
        "chunk:c5",
        "in no scope",
    ),
    "a pinned line that stands nowhere": (
        lambda s: s.client.hset(
            key_of(s, "record", HAROLD), "pins", b'[{"id":"p1","text":"* not noted","thread":"t1"}]'
        ),
        "record",
        "stands nowhere",
    ),
    "pins that are none": (
        lambda s: s.client.hset(key_of(s, "record", HAROLD), "pins", b"{}"),
        "record",
        "pins that are none",
    ),
    "a message raw and sealed": (
        lambda s: (
            s.client.zadd(key_of(s, "messages", "t1"), {member(7): AT}),
            s.client.hincrby(key_of(s, "tokens"), "#t1", 1),
        ),
        "messages:t1",
        "holds too",
    ),
    "a message in two chunks": (
        lambda s: s.client.zadd(key_of(s, "sealed", "c4"), {member(7): AT + 7000}),
        "sealed:c4",
        "holds too",
    ),
    "an id in two sets": (
        lambda s: s.client.zadd(key_of(s, "sealed", "c4"), {b'{"id":"m7","role":"user","content":"other"}': AT + 7000}),
        "sealed:c4",
        "holds message m7",
    ),
    "a sealed message behind an observation too": (
        lambda s: s.client.zadd(key_of(s, "source", "o2"), {member(7): AT + 7000}),
        "sealed:c5",
        "holds too",
    ),
    "a message behind two observations": (
        lambda s: s.client.zadd(key_of(s, "source", "o2"), {member(1): AT + 1000}),
        "source:o1",
        "holds too",
    ),
    "a message counter off by one": (
        lambda s: s.client.hincrby(key_of(s, "tokens"), "#t1", 1),
        "messages:t1",
        "3 are counted",
    ),
    "a message counter short by one": (
        lambda s: s.client.hincrby(key_of(s, "tokens"), "#t1", -1),
        "tokens",
        "t1 is 20",
    ),
    "a token counter off by one": (lambda s: s.client.hincrby(key_of(s, "tokens"), "t1", 1), "tokens", "t1 is 21"),
    "a total off by one": (lambda s: s.client.hincrby(key_of(s, "tokens"), "*", -1), "tokens", "* is 29"),
    "a counter alone": (lambda s: s.client.hset(key_of(s, "tokens"), "#t7", 0), "tokens", "only one of"),
    "chunk tokens off by one": (
        lambda s: s.client.hincrby(key_of(s, "record", HAROLD), "chunk_tokens", 1),
        "record",
        "chunk_tokens is 51",
    ),
    "observation tokens off": (
        lambda s: s.client.hincrby(key_of(s, "record", HAROLD), "observation_tokens", 1),
        "record",
        "observation_tokens is 11",
    ),
    "observations miscounted": (
        lambda s: s.client.hincrby(key_of(s, "record", HAROLD), "observation_count", 1),
        "record",
        "observation_count is 3",
    ),
    "reflection tokens off": (
        lambda s: s.client.hset(key_of(s, "record", HAROLD), "reflection_tokens", 9),
        "record",
        "reflection_tokens is 9",
    ),
    "a chunk's messages miscounted": (
        lambda s: s.client.hincrby(key_of(s, "chunk", "c5"), "messages", 1),
        "chunk:c5",
        "says 4 messages",
    ),
    "a chunk's tokens off": (
        lambda s: s.client.hset(key_of(s, "chunk", "c5"), "tokens", 31),
        "chunk:c5",
        "says 31 tokens",
    ),
    "a chunk in no known state": (
        lambda s: s.client.hset(key_of(s, "chunk", "c5"), "state", "lost"),
        "chunk:c5",
        "neither",
    ),
    "an observation deleted": (
        lambda s: s.client.zremrangebyrank(key_of(s, "observations", HAROLD), 0, 0),
        "source:o2",
        "no generation covers it",
    ),
    "a source missing before its time": (
        lambda s: s.client.delete(key_of(s, "source", "o2")),
        "source:o2",
        "before its time",
    ),
    "a source that lost a message": (
        lambda s: s.client.zremrangebyrank(key_of(s, "source", "o2"), 0, 0),
        "source:o2",
        "other messages",
    ),
    "an observation there twice": (
        lambda s: s.client.zadd(key_of(s, "observations", HAROLD), {_other_words(s): 1}),
        "source:o2",
        "there twice",
    ),
    "two observations with one seq": (
        lambda s: s.client.zadd(key_of(s, "observations", HAROLD), {b'{"id":"x","thread_id":"t1","text":""}': _seq(s)}),
        "observations",
        "two observations have the seq",
    ),
    "two chunks with one seq": (
        lambda s: s.client.zadd(
            key_of(s, "chunks", HAROLD), {"c4": s.client.zscore(key_of(s, "chunks", HAROLD), "c5")}
        ),
        "chunks",
        "two chunks have the seq",
    ),
    "a generation missing": (
        lambda s: s.client.delete(key_of(s, "reflections", HAROLD)),
        "reflections",
        "the record says 1",
    ),
    "a gap in the generations": (
        lambda s: (
            s.client.zadd(
                key_of(s, "reflections", HAROLD), {msgspec.json.encode({"n": 3, "text": "", "tokens": 3}): 3}
            ),
            s.client.hset(key_of(s, "record", HAROLD), "generation", 3),
        ),
        "reflections",
        "lacks or doubles",
    ),
    "a memory outside the scope in force": (
        lambda s: s.client.set(key_of(s, "scope"), "thread"),
        "record",
        "the scope in force is thread",
    ),
    "an index of messages that are not there": (
        lambda s: s.client.set(key_of(s, "segment", "c9"), segment(s, "c5")),
        "segment:c9",
        "of messages that are not there",
    ),
    "an index of a chunk that is not ready": (
        lambda s: s.client.set(key_of(s, "segment", "c5"), segment(s, "c5")),
        "segment:c5",
        "of messages that are not there",
    ),
    "an index of more messages than there are": (
        lambda s: s.client.set(key_of(s, "segment", "c4"), segment(s, "c5")),
        "segment:c4",
        "the index of 3 messages, there are 2",
    ),
    "an index of other messages": (
        lambda s: s.client.set(key_of(s, "segment", "c4"), s.client.get(key_of(s, "segment", "o2"))),
        "segment:c4",
        "of other messages than there are",
    ),
    "an index that is none": (
        lambda s: s.client.set(key_of(s, "segment", "o2"), b"garbage", keepttl=True),
        "segment:o2",
        "is a broken index",
    ),
    "an index that was cut off": (
        lambda s: s.client.set(key_of(s, "segment", "o2"), segment(s, "o2")[:40], keepttl=True),
        "segment:o2",
        "is a broken index",
    ),
    "a chunk without the index that its memory is said to have": (
        lambda s: (_said_to_be_indexed(s), s.client.delete(key_of(s, "segment", "c4"))),
        "segment:c4",
        "is no index of this version",
    ),
    "a source without one": (
        lambda s: (_said_to_be_indexed(s), s.client.delete(key_of(s, "segment", "o3"))),
        "segment:o3",
        "is no index of this version",
    ),
    "an index of another version in a memory that is said to have none of it": (
        lambda s: (_said_to_be_indexed(s), s.client.set(key_of(s, "segment", "c4"), OTHER_VERSION)),
        "segment:c4",
        "is no index of this version",
    ),
    "an index that outlives its messages": (
        lambda s: s.client.persist(key_of(s, "segment", "o2")),
        "segment:o2",
        "has no TTL",
    ),
    "a memory without scope": (lambda s: s.client.delete(key_of(s, "scope")), "scope", "is missing"),
}


def _other_words(store):
    stored = store.run(reading.observations(store.keys, HAROLD))[0]
    return msgspec.json.encode(msgspec.structs.replace(stored.observation, text="* in other words"))


def _seq(store):
    return store.run(reading.observations(store.keys, HAROLD))[0].seq


@pytest.mark.parametrize("what", BREAKS)
def test_what_was_broken_by_hand_is_named(store, what):
    break_it, where, says = BREAKS[what]
    filled(store)
    break_it(store)

    told = breaches(store)

    assert [b for b in told if b.where == f"{store.keys.of('harold').base}:{where}" and says in b.what], told


def test_an_index_of_another_version_is_nobodys_to_read_and_no_breach(store):
    filled(store)
    store.client.set(key_of(store, "segment", "c4"), OTHER_VERSION)

    assert breaches(store) == []


@pytest.mark.parametrize("indexed", [None, VERSION, VERSION + 1])
def test_what_a_sweep_will_index_is_no_breach_nor_what_is_indexed(store, indexed):
    """A chunk that waits for its observation (c5) gets its index with it, and a source that has expired needs none."""
    filled(store)
    store.client.delete(key_of(store, "source", "o1"), key_of(store, "segment", "o1"))
    store.client.zincrby(key_of(store, "sources", "t1"), -25 * 3_600_000, "o1")
    if indexed is None or indexed > VERSION:
        store.client.delete(key_of(store, "segment", "c4"))
    if indexed is not None:
        store.client.hset(key_of(store, "record", HAROLD), "indexed", indexed)

    assert breaches(store) == []


@pytest.mark.parametrize(("hours", "early"), [(23, True), (25, False)])
def test_a_source_may_be_gone_after_a_day_the_shortest_retention_there_is(store, hours, early):
    """The index outlives it where retention was lengthened since: its lifetime tells nothing of this one's."""
    filled(store)
    source, index = key_of(store, "source", "o2"), key_of(store, "sources", "t1")
    store.client.delete(source, key_of(store, "segment", "o2"))
    store.client.expire(index, 90 * 86_400)
    store.client.zincrby(index, -hours * 3_600_000, "o2")

    assert breaches(store) == [Breach(source, "is missing before its time")] * early


POOL = '* common to all\n<thread id="t1">\n* of one\n</thread>'


def _moved(store, *ways):
    """What such a pool is after these moves."""
    for n, thread in enumerate(("t1", "t2", "t3"), 1):
        observed(store, f"o{n}", 10 * n, thread=thread)
    reflect(store, "o1", "o2", "o3", text=POOL)
    for to in ways:
        assert store.run(moving(store, to)) is Outcome.ACTIVATED
    assert breaches(store) == []


def _rewrite(store, scope, **said):
    """Write a generation in force otherwise, with the totals that fit."""
    reflections = key_of(store, "reflections", scope)
    was = store.run(reading.generations(store.keys, scope))[-1]
    made = msgspec.structs.replace(was, **said, tokens=words(said["text"]))
    store.client.zremrangebyscore(reflections, was.n, was.n)
    store.client.zadd(reflections, {msgspec.json.encode(made): was.n})
    store.client.hset(key_of(store, "record", scope), "reflection_tokens", made.tokens)
    return reflections


@pytest.mark.parametrize("marked", [True, False])
def test_a_pool_that_tells_once_for_each_thread_what_was_common_is_named(store, marked):
    """Breaks without the rule: ten threads moved there and back, a fact stood there ten times, and nothing was found."""
    _moved(store, "thread", "resource")
    origin = store.run(reading.generations(store.keys, HAROLD))[-1].pieces[0]
    text = "\n".join(f'<thread id="t{n}">\n* common to all\n</thread>' for n in (1, 2, 3))
    pieces = tuple(msgspec.structs.replace(origin, thread=f"t{n}") for n in (1, 2, 3)) if marked else ()
    key = _rewrite(store, HAROLD, text=text, pieces=pieces)

    assert breaches(store) == [
        Breach(
            key,
            f"generation 1 holds piece 0 of generation {origin.origin} 3 times"
            if marked
            else "generation 1 tells 3 times, once for each thread, what is common to them: '* common to all'",
        )
    ]


def test_a_common_text_that_is_another_in_one_thread_is_named(store):
    _moved(store, "thread")
    t2 = Scope("harold", "t2")
    (piece,) = store.run(reading.generations(store.keys, t2))[-1].pieces
    key = _rewrite(store, t2, text="* common no more")

    assert [breach for breach in breaches(store) if "holds piece" in breach.what] == [
        Breach(
            key,
            f"holds piece 0 of generation {piece.origin} otherwise than {key_of(store, 'reflections', Scope('harold', 't1'))}",
        )
    ]


def test_what_a_thread_repeats_in_a_reflection_of_its_own_is_no_breach(store):
    _moved(store, "thread")
    for n in (1, 2, 3):
        scope = Scope("harold", f"t{n}")
        observed(store, f"p{n}", 100 + n, thread=f"t{n}", scope=scope)
        reflect(store, f"p{n}", scope=scope, text=f"* common to all\n* and {n}")
    assert store.run(moving(store, "resource")) is Outcome.ACTIVATED

    assert breaches(store) == []
