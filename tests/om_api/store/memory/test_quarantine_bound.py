"""The quarantine is bounded, says how much went, and never loses the only copy of what was accepted."""

import pytest
from scene import call, member, write_plainly

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


@pytest.mark.parametrize("at_once", [1, 7, 200])
@pytest.mark.parametrize("size", [50, 4_000])
def test_of_what_was_never_accepted_the_oldest_goes_and_every_one_is_counted(store, at_once, size):
    gone = 0
    for start in range(0, 200, at_once):
        gone += add(store, *(entry(n, size=size) for n in range(start, min(start + at_once, 200))))
    left = held(store)

    assert left == list(range(200 - len(left), 200))
    assert dropped(store) == gone == 200 - len(left)


@pytest.mark.parametrize("first", [True, False])
def test_what_was_accepted_stays_while_what_was_not_comes_and_goes(store, first):
    """Catches a flood of malformed members that pushes out the only copy of an accepted message's text."""
    accepted, flood = [entry(n, "unobservable") for n in range(5)], [entry(n) for n in range(100, 300)]
    for each in [*accepted, *flood] if first else [*flood, *accepted]:
        add(store, each)

    assert [at for at in held(store) if at < 5] == [0, 1, 2, 3, 4]


def test_where_only_accepted_ones_are_left_the_newest_is_not_taken_up(store):
    """Its text still stands behind the placeholder; the source of the oldest may have expired."""
    for n in range(40):
        add(store, entry(n, "unobservable"))

    assert held(store)[:18] == list(range(18))
    assert dropped(store) == 40 - len(held(store))


def test_one_that_fits_nowhere_takes_no_other_with_it(store):
    add(store, *(entry(n) for n in range(10)))

    assert add(store, entry(10, size=30_000)) == 1
    assert held(store) == list(range(10))


def test_what_a_foreigner_wrote_is_bounded_as_well(store):
    assert add(store, *[b"no entry of ours"] * 100) >= 80
    assert held(store)


def test_what_an_operator_removes_makes_room(store):
    """Catches a count of bytes that only ever grows."""
    for n in range(12):
        add(store, entry(n, size=1_300))
        (found,) = store.run(quarantine.entries(store.keys, "harold"))
        store.run(quarantine.drop(store.keys, "harold", found.id))

    assert dropped(store) == 0


def test_adoption_bounds_what_a_plain_writer_leaves_and_says_how_many_went(store):
    write_plainly(store, *(b"not json %d" % n for n in range(200)), member(1))
    adopted = store.run(adopt(store.keys, store.clock, "harold", "t1", len))

    assert (adopted.kept, adopted.rejected, adopted.trimmed) == (1, 200, 200 - len(held(store)))
    looks = [store.run(scope_state.look(store.keys, Scope("harold")))]
    assert store.run(scope_state.side_view(store.keys, "harold", looks)).dropped == adopted.trimmed


def test_what_names_no_resource_is_bounded_too(store):
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


@pytest.mark.parametrize(
    ("n", "most", "most_bytes", "left"),
    [
        (10, 10, 270, 10),  # full, and nothing goes
        (11, 10, 10_000, 9),  # one too many, and a tenth goes
        (10, 1_000, 269, 8),  # one byte too many: nine would be 243 of 242.1
        (11, 1_000, 270, 9),  # nine are nine tenths to the byte
        (18, 10, 10_000, 9),  # as many go as stay
        (19, 10, 10_000, 9),  # more go than stay
    ],
)
@pytest.mark.parametrize("kind", ["malformed", "changed", "surplus", "ownerless", "foreign"])
def test_a_full_list_loses_a_tenth_and_what_is_left_is_noted_to_the_byte(store, n, most, most_bytes, left, kind):
    """Catches a bound that is one off, and a count of bytes that does not begin with nothing."""
    entries = [bad(at, kind) for at in range(n)]
    gone, noted = trim(store, entries, most=most, most_bytes=most_bytes)

    assert gone == n - left
    assert noted == 27 * left
    kept = entries[:left] if kind == "foreign" else entries[n - left :]
    assert store.client.lrange(store.keys.of("harold").rejected, 0, -1) == kept
    assert dropped(store) == gone


def test_what_was_accepted_takes_the_place_of_one_and_no_more(store):
    entries = [*map(bad, range(8)), *(bad(n, "foreign") for n in range(3))]

    assert trim(store, entries, most=10) == (2, 27 * 9)
    assert store.client.lrange(store.keys.of("harold").rejected, 0, -1) == entries[2:]


@pytest.mark.parametrize(("most_bytes", "noted"), [(269, 27), (270, None), (271, None)])
def test_how_many_bytes_there_are_is_noted_from_a_tenth_on(store, most_bytes, noted):
    assert trim(store, [bad(1)], most_bytes=most_bytes) == (0, noted)


@pytest.mark.parametrize(("added", "known"), [(1, 243), (2, 216)])
def test_of_a_long_list_only_what_came_is_read_while_it_fits(store, added, known):
    """Catches a list that is read whole at every entry: what was noted is believed as long as all of it would fit."""
    assert trim(store, [bad(1), bad(2)], added=added, most=2, most_bytes=270, known=known) == (0, 270)


def test_a_list_that_seems_too_long_is_read_and_counted_anew(store):
    assert trim(store, [bad(1), bad(2)], added=1, most=2, most_bytes=270, known=244) == (0, 54)


def test_when_more_came_than_a_list_may_hold_what_is_left_is_counted_anew(store):
    """Time 0: a flood comes. Time 1: an operator takes most of it out. Time 2: what is left was counted before."""
    assert trim(store, [bad(1), bad(2)], added=3, most=2, most_bytes=270, known=54) == (0, 54)


@pytest.mark.parametrize("added", [0, 1])
def test_nothing_is_noted_when_nothing_came_or_nothing_is_there(store, added):
    of = store.keys.of("harold")
    if not added:
        store.client.rpush(of.rejected, *map(bad, range(5)))

    assert call(store, "trim", [of.rejected, of.tokens], [added, 2, 30]) == 0
    assert not store.client.exists(of.tokens)
