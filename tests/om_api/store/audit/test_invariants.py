"""What must hold of a resource: whatever breaks it by hand is named with its key."""

import msgspec
import pytest
from scene import AT, HAROLD, breaches, emptied, filled, key_of, member, moving, observed, reflect, segment, words

from om_api.domain.values import Outcome, Scope
from om_api.recall.analysis import VERSION
from om_api.store.audit.invariants import Breach
from om_api.store.memory import reading

OTHER_VERSION = b"omr\x01\xff\xff" + bytes(40)
INDEXED = ("HSET", "record", "indexed", VERSION)
ALIAS_T9 = ("HSET", "aliases", "t9", "t1")
NO_INDEX = "is no index of this version"


def first(store):
    return store.run(reading.observations(store.keys, HAROLD))[0]


def other_words(store):
    return msgspec.json.encode(msgspec.structs.replace(first(store).observation, text="* in other words"))


def segment_of(chunk, size=None):
    return lambda store: segment(store, chunk)[:size]


# The commands, whose first word names a key of harold's; the key that is named as broken, and what is said of it.
BREAKS = [
    ([("DEL", "sealed:c5")], "sealed:c5", "nowhere"),
    ([("HSET", "known:t2", "=", "t1"), ("HSET", "aliases", "t2", "t1")], "aliases", "which nobody reads there"),
    ([("HSET", "working", "value:", b"[]")], "working", "field value: cannot be read"),
    ([("HSET", "working", "colour", b"red")], "working", "is none of ours"),
    (
        [
            ("HSET", "known:t9", "=", "t1"),
            ALIAS_T9,
            ("HSET", "working", "version:t9", 1, "value:t9", b'{"name":["Ada",1]}'),
        ],
        "working",
        "nobody reads it: unalias t9, and make it an alias again",
    ),
    ([("HSET", "aliases", "t8", "t9", "t9", "t1")], "aliases", "is an alias itself"),
    ([ALIAS_T9], "known:t9", "is not that of an alias of t1"),
    ([("HSET", "known:t2", "=", "t1")], "known:t2", "is not that of an alias of none"),
    ([("DEL", "chunk:c5")], "chunk:c5", "is missing"),
    ([("ZADD", "sealed:c9", 1, b"{}")], "sealed:c9", "belongs to no chunk"),
    ([("ZREM", "chunks", "c5")], "chunk:c5", "in no scope"),
    ([("HSET", "record", "pins", b'[{"id":"p1","text":"* x","thread":"t1"}]')], "record", "stands nowhere"),
    ([("HSET", "record", "pins", b"{}")], "record", "pins that are none"),
    ([("ZADD", "messages:t1", AT, member(7)), ("HINCRBY", "tokens", "#t1", 1)], "messages:t1", "holds too"),
    ([("ZADD", "sealed:c4", AT + 7000, member(7))], "sealed:c4", "holds too"),
    ([("ZADD", "sealed:c4", AT, b'{"id":"m7","role":"user","content":"x"}')], "sealed:c4", "holds message m7"),
    ([("ZADD", "source:o2", AT + 7000, member(7))], "sealed:c5", "holds too"),
    ([("ZADD", "source:o2", AT + 1000, member(1))], "source:o1", "holds too"),
    ([("HINCRBY", "tokens", "#t1", 1)], "messages:t1", "3 are counted"),
    ([("HINCRBY", "tokens", "#t1", -1)], "tokens", "t1 is 20"),
    ([("HINCRBY", "tokens", "t1", 1)], "tokens", "t1 is 21"),
    ([("HINCRBY", "tokens", "*", -1)], "tokens", "* is 29"),
    ([("HSET", "tokens", "#t7", 0)], "tokens", "only one of"),
    ([("HINCRBY", "record", "chunk_tokens", 1)], "record", "chunk_tokens is 51"),
    ([("HINCRBY", "record", "observation_tokens", 1)], "record", "observation_tokens is 11"),
    ([("HINCRBY", "record", "observation_count", 1)], "record", "observation_count is 3"),
    ([("HSET", "record", "reflection_tokens", 9)], "record", "reflection_tokens is 9"),
    ([("HINCRBY", "chunk:c5", "messages", 1)], "chunk:c5", "says 4 messages"),
    ([("HSET", "chunk:c5", "tokens", 31)], "chunk:c5", "says 31 tokens"),
    ([("HSET", "chunk:c5", "state", "lost")], "chunk:c5", "neither"),
    ([("ZREMRANGEBYRANK", "observations", 0, 0)], "source:o2", "no generation covers it"),
    ([("DEL", "source:o2")], "source:o2", "before its time"),
    ([("ZREMRANGEBYRANK", "source:o2", 0, 0)], "source:o2", "other messages"),
    ([("ZADD", "observations", 1, other_words)], "source:o2", "there twice"),
    (
        [("ZADD", "observations", lambda store: first(store).seq, b'{"id":"x","thread_id":"t1","text":""}')],
        "observations",
        "two observations have the seq",
    ),
    (
        [("ZADD", "chunks", lambda store: store.client.zscore(key_of(store, "chunks", HAROLD), "c5"), "c4")],
        "chunks",
        "two chunks have the seq",
    ),
    ([("DEL", "reflections")], "reflections", "the record says 1"),
    (
        [("ZADD", "reflections", 3, b'{"n":3,"text":"","tokens":3}'), ("HSET", "record", "generation", 3)],
        "reflections",
        "lacks or doubles",
    ),
    ([("SET", "scope", "thread")], "record", "the scope in force is thread"),
    ([("SET", "segment:c9", segment_of("c5"))], "segment:c9", "of messages that are not there"),
    ([("SET", "segment:c5", segment_of("c5"))], "segment:c5", "of messages that are not there"),
    ([("SET", "segment:c4", segment_of("c5"))], "segment:c4", "the index of 3 messages, there are 2"),
    (
        [("SET", "segment:c4", lambda store: store.client.get(key_of(store, "segment", "o2")))],
        "segment:c4",
        "of other messages than there are",
    ),
    ([("SET", "segment:o2", b"garbage", "KEEPTTL")], "segment:o2", "is a broken index"),
    ([("SET", "segment:o2", segment_of("o2", 40), "KEEPTTL")], "segment:o2", "is a broken index"),
    ([INDEXED, ("DEL", "segment:c4")], "segment:c4", NO_INDEX),
    ([INDEXED, ("DEL", "segment:o3")], "segment:o3", NO_INDEX),
    ([INDEXED, ("SET", "segment:c4", OTHER_VERSION)], "segment:c4", NO_INDEX),
    *[([("PERSIST", key)], key, "has no TTL") for key in ("segment:o2", "source:o2", "sources:t1")],
    ([("DEL", "scope")], "scope", "is missing"),
    ([("SET", "luck:x", 1, "EX", 9)], "luck:x", "no name"),
    ([("EXPIRE", "messages:t1", 900)], "messages:t1", "no TTL"),
    ([("DEL", "threads"), ("SET", "threads", 1)], "threads", "is a string"),
]


def test_verify_names_every_break_with_its_key(store, monkeypatch):
    """Each break is made in the same memory, and undone."""
    monkeypatch.setattr("om_api.store.audit.verify._PAUSE_S", 0)
    filled(store)
    base, client = store.keys.of("harold").base, store.client
    whole = {key: client.dump(key) for key in client.scan_iter(f"{store.keys.prefix}*")}
    ends = {key: client.pexpiretime(key) for key in whole}
    assert breaches(store) == []
    for commands, where, says in BREAKS:
        for verb, key, *words_ in commands:
            client.execute_command(verb, f"{base}:{key}", *(w(store) if callable(w) else w for w in words_))
        told = breaches(store)
        assert [b for b in told if b.where == f"{base}:{where}" and says in b.what], (commands, told)
        for key in {f"{base}:{command[1]}".encode() for command in commands}:
            if key in whole:
                client.restore(key, max(ends[key], 0), whole[key], replace=True, absttl=True)
            else:
                client.delete(key)
    assert breaches(store) == []


MAY_VANISH = {"reflected:1": "it expires"}


def test_verify_names_each_key_of_a_memory_that_is_deleted(store, monkeypatch):
    monkeypatch.setattr("om_api.store.audit.verify._PAUSE_S", 0)
    filled(store)
    base, client, missed = store.keys.of("harold").base, store.client, []
    client.hset(key_of(store, "record", HAROLD), "indexed", VERSION)
    for key in sorted(client.scan_iter(f"{base}:*")):
        name = key.decode().removeprefix(f"{base}:")
        held, ends = client.dump(key), client.pexpiretime(key)
        client.delete(key)
        told = breaches(store)
        missed += [] if name in MAY_VANISH or any(key.decode() in each for each in told) else [(name, told)]
        client.restore(key, max(ends, 0), held, absttl=True)
    assert breaches(store) == []
    assert not missed, " ".join(name for name, _ in missed)


def test_verify_takes_what_a_sweep_will_index_for_no_breach(store):
    """A chunk that waits for its observation (c5) gets its index with it, and a source that has expired needs none."""
    for indexed in (None, VERSION, VERSION + 1):
        filled(emptied(store))
        store.client.delete(key_of(store, "source", "o1"), key_of(store, "segment", "o1"))
        store.client.zincrby(key_of(store, "sources", "t1"), -25 * 3_600_000, "o1")
        if indexed is None:
            store.client.set(key_of(store, "segment", "c4"), OTHER_VERSION)
            assert breaches(store) == []
        if indexed is None or indexed > VERSION:
            store.client.delete(key_of(store, "segment", "c4"))
        if indexed is not None:
            store.client.hset(key_of(store, "record", HAROLD), "indexed", indexed)
        assert breaches(store) == [], indexed


def test_verify_lets_a_source_be_gone_after_a_day_the_shortest_retention_there_is(store):
    """The index outlives it where retention was lengthened since: its lifetime tells nothing of this one's."""
    filled(store)
    source, index = key_of(store, "source", "o2"), key_of(store, "sources", "t1")
    store.client.delete(source, key_of(store, "segment", "o2"))
    store.client.expire(index, 90 * 86_400)
    store.client.zincrby(index, -23 * 3_600_000, "o2")
    assert breaches(store) == [Breach(source, "is missing before its time")]
    store.client.zincrby(index, -2 * 3_600_000, "o2")
    assert breaches(store) == []


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
