"""The quarantine is bounded, says how much went, and never loses the only copy of what was accepted."""

import pytest
from scene import call, emptied, member, write_plainly

from om_api.domain.values import Scope
from om_api.store.memory import quarantine, scope_state
from om_api.store.memory.adopt import adopt, older_members, rejection
from om_api.store.memory.quarantine import as_rejected


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(quarantine, "MOST", 20)
    monkeypatch.setattr(quarantine, "MOST_BYTES", 20_000)


def entry(n, kind="malformed", size=50):
    fields = {"observation": f"c{n}"} if kind == "unobservable" else {"score": 1.0}
    return rejection(kind, f"{n}:{'x' * size}".encode(), "t1", 'a "kind":"changed" reason', n, **fields)


def add(store, *entries):
    """What adoption and the Observer do: the entries come, and the list is trimmed."""
    store.client.rpush(store.keys.of("harold").rejected, *entries)
    return store.run(quarantine.trim(store.keys, "harold", len(entries)))


def held(store):
    entries = store.client.lrange(store.keys.of("harold").rejected, 0, -1)
    assert len(entries) <= 20
    assert sum(map(len, entries)) <= 20_000
    return [as_rejected(each).at for each in entries]


def dropped(store):
    return int(store.client.hget(store.keys.of("harold").tokens, quarantine.DROPPED) or 0)


def test_of_what_was_never_accepted_the_oldest_goes_and_every_one_is_counted(store):
    for at_once, size in ((1, 50), (7, 4_000), (200, 50), (200, 4_000)):
        emptied(store)
        gone = 0
        for start in range(0, 200, at_once):
            gone += add(store, *(entry(n, size=size) for n in range(start, min(start + at_once, 200))))
        left = held(store)
        assert left == list(range(200 - len(left), 200)), (at_once, size)
        assert dropped(store) == gone == 200 - len(left), (at_once, size)


def test_what_was_accepted_stays_while_what_was_not_comes_and_goes(store):
    """Catches a flood of malformed members that pushes out the only copy of an accepted message's text."""
    accepted, flood = [entry(n, "unobservable") for n in range(5)], [entry(n) for n in range(100, 200)]
    for order in ([*accepted, *flood], [*flood, *accepted]):
        emptied(store)
        for each in order:
            add(store, each)
        assert [at for at in held(store) if at < 5] == [0, 1, 2, 3, 4]

    emptied(store)  # of accepted ones the newest is not taken up: its text stands behind the placeholder
    for n in range(40):
        add(store, entry(n, "unobservable"))
    assert held(store)[:18] == list(range(18))
    assert dropped(store) == 40 - len(held(store))


def test_one_that_fits_nowhere_takes_no_other_with_it_and_foreign_ones_are_bounded(store):
    add(store, *(entry(n) for n in range(10)))
    assert add(store, entry(10, size=30_000)) == 1
    assert held(store) == list(range(10))
    assert add(store, *[b"no entry of ours"] * 100) >= 80
    assert held(store)


def test_adoption_bounds_what_plain_writers_leave_and_says_how_many_went(store):
    write_plainly(store, *(b"not json %d" % n for n in range(200)), member(1))
    adopted = store.run(adopt(store.keys, store.clock, "harold", "t1", len))
    assert (adopted.kept, adopted.rejected, adopted.trimmed) == (1, 200, 200 - len(held(store)))
    looks = [store.run(scope_state.look(store.keys, Scope("harold")))]
    assert store.run(scope_state.side_view(store.keys, "harold", looks)).dropped == adopted.trimmed

    older = f"{store.keys.prefix}:messages:t1"
    store.client.zadd(older, {b'{"role":"user","content":"%d"}' % n: n for n in range(60)})
    store.run(older_members(store.keys, older, "t1"))
    assert store.client.llen(store.keys.of("unknown").rejected) <= 20


# -- to the entry and the byte ------------------------------------------------------------------------------------------


def trim(store, entries, *, added=None, most=1_000, most_bytes=10_000, known=None):
    """The script itself over a list that is there: how many went, and what is noted of the bytes."""
    of = store.keys.of("harold")
    store.client.rpush(of.rejected, *entries)
    if known is not None:
        store.client.hset(of.tokens, "*rejected", known)
    gone = call(store, "trim", [of.rejected, of.tokens], [len(entries) if added is None else added, most, most_bytes])
    store.client.hset(of.tokens, "#t1", 0)  # a key that holds nothing else is no memory
    noted = store.client.hget(of.tokens, "*rejected")
    return gone, noted and int(noted)


def bad(n, kind="malformed"):
    return b'{"kind":"%s","n":%2d' % (kind.encode(), n) + b" " * (9 - len(kind)) + b"}"  # 27 bytes


def test_trim_takes_a_tenth_of_a_full_list_and_notes_what_is_left_to_the_byte(store):
    """Catches a bound that is one off, and a count of bytes that does not begin with nothing."""
    rejected = store.keys.of("harold").rejected
    rows = [
        (10, 10, 270, 10),  # full, and nothing goes
        (11, 10, 10_000, 9),  # one too many, and a tenth goes
        (10, 1_000, 269, 8),  # one byte too many: nine would be 243 of 242.1
        (11, 1_000, 270, 9),  # nine are nine tenths to the byte
        (18, 10, 10_000, 9),  # as many go as stay
        (19, 10, 10_000, 9),  # more go than stay
    ]
    for kind in ("malformed", "changed", "surplus", "ownerless", "foreign"):
        for n, most, most_bytes, left in rows:
            entries = [bad(at, kind) for at in range(n)]
            gone, noted = trim(emptied(store), entries, most=most, most_bytes=most_bytes)
            assert (gone, noted) == (n - left, 27 * left), (kind, n, most)
            kept = entries[:left] if kind == "foreign" else entries[n - left :]
            assert store.client.lrange(rejected, 0, -1) == kept, (kind, n, most)
            assert dropped(store) == gone

    entries = [*map(bad, range(8)), *(bad(n, "foreign") for n in range(3))]
    assert trim(emptied(store), entries, most=10) == (2, 27 * 9)
    assert store.client.lrange(rejected, 0, -1) == entries[2:]


def test_trim_reads_a_list_only_when_it_may_be_too_long(store):
    """What was noted of its bytes is believed as long as all of it would fit; else, or after a flood, it is counted anew."""
    for most_bytes, noted in ((269, 27), (270, None), (271, None)):
        assert trim(emptied(store), [bad(1)], most_bytes=most_bytes) == (0, noted), most_bytes
    for added, known, noted in ((1, 243, 270), (2, 216, 270), (1, 244, 54), (3, 54, 54)):
        found = trim(emptied(store), [bad(1), bad(2)], added=added, most=2, most_bytes=270, known=known)
        assert found == (0, noted), (added, known)

    of = emptied(store).keys.of("harold")
    for added in (1, 0):
        assert call(store, "trim", [of.rejected, of.tokens], [added, 2, 30]) == 0
        assert not store.client.exists(of.tokens)
        store.client.rpush(of.rejected, *map(bad, range(5)))
