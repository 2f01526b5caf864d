"""Recall finds what is kept, wherever it stands, shows it as it was said, and never shows what was removed."""

from functools import partial

import pytest
from scene import (
    HAROLD,
    activate,
    buffer,
    cleared,
    clearing_thread,
    erasing,
    expiring,
    filled,
    interrupted,
    message,
    push,
    pushing,
    reflect,
    seal,
    write_plainly,
)
from stores import Store
from world import SMALL, World

from om_api import InvalidInputError, Message, load_settings
from om_api.client.core import Core
from om_api.client.recall.recall_query import RecallLimits, recall_query
from om_api.store.memory import chunks, scope_state
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock


def new_core(prefix, **options):
    return Core(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), lambda text: len(text.split()), **options)


@pytest.fixture
def core(prefix):
    return new_core(prefix)


@pytest.fixture
def filled_for(client, prefix_for):
    """Makes for each case of a loop a store in which every tier holds something, and a client of it."""

    def made(case):
        store = Store(Keys(prefix_for(case)), ServerClock(), client)
        filled(store)
        return store, new_core(store.keys.prefix)

    return made


def asked(text, **limits):
    usual = {"thread_id": None, "roles": (), "kinds": (), "after": None, "before": None, "max_tokens": None}
    return recall_query(text, "UTC", RecallLimits(**{**usual, "limit": 10, "offset": 0, "around": 1, **limits}))


def recalling(core, text, **limits):
    return core.recalling.recall("harold", asked(text, **limits))


def recall(store, core, text, **limits):
    return store.run(recalling(core, text, **limits))


def ids(store, core, text, **limits):
    return [hit.id for hit in recall(store, core, text, **limits).hits]


def say(store, *texts, thread="t1", start=1, role="user", **fields):
    """Push messages m<start> and on, of 10 tokens, a second after another."""
    place = {"thread_id": thread, "resource_id": "harold", "tokens": 10}
    messages = [
        Message(role=role, content=text, id=f"m{n}", at=message(n).at, timestamp=message(n).at, **place, **fields)
        for n, text in enumerate(texts, start)
    ]
    store.run(pushing(store, messages))
    return messages


def _split(store):
    (whole,) = [c for c in store.run(scope_state.look(store.keys, HAROLD)).chunks if c.id == "c5"]
    store.run(chunks.split(store.keys, HAROLD, whole, 1, 10, 2))


MEANWHILE = {
    "split": _split, "observed": lambda store: buffer(store, "c5"),
    "activated": lambda store: activate(store, "c4", by="a4"), "sealed": lambda store: seal(store, "c9", 10, 11),
    "erased": lambda store: store.run(erasing(store, "turn 5")),
    "cleared": lambda store: store.run(clearing_thread(store, "t1")),
    "expired": lambda store: store.client.delete(*expiring(store, "o1")),
}  # fmt: skip
STEPS = {
    "TIME": "what there is", "GET": "segments", "HGET": "messages of chunks without one", "ZRANGE": "what is shown",
}  # fmt: skip


def test_recall_finds_each_message_once_whatever_happens_between_two_reads(filled_for):
    for how, meanwhile in MEANWHILE.items():
        for step in STEPS if how in {"activated", "cleared"} else ("GET", "ZRANGE"):
            store, core = filled_for(f"{how}-{step}")
            found = store.run(interrupted(recalling(core, "turn", limit=20), step, partial(meanwhile, store)))
            names, now = [hit.id for hit in found.hits], set(ids(store, new_core(store.keys.prefix), "turn", limit=20))
            raw_then = {"m10", "m11"} if how == "cleared" else set()
            assert len(names) == len(set(names)), (how, step)
            assert now <= set(names) <= now | raw_then, (how, step)


def test_two_who_look_at_once_are_no_hindrance_to_each_other(store, core):
    """Time 0: one has found its hits. Time 1: another of the same client looks again. Time 2: the first shows them."""
    filled(store)
    ids(store, core, "turn")

    def meanwhile():
        buffer(store, "c5")
        activate(store, "c4", by="a4")
        seal(store, "c9", 10, 11)
        reflect(store, "o2", "o3")
        assert len(ids(store, core, "turn", limit=20)) == 14

    found = store.run(interrupted(recalling(core, "turn", limit=20), "ZRANGE", meanwhile))

    assert len({hit.id for hit in found.hits}) == 14
    browsed = store.run(
        interrupted(core.recalling.browse("harold", "m6", 5, 5, None), "ZRANGE", lambda: cleared(store))
    )
    assert browsed.message is None


def around(hit):
    return [each.id for each in (*hit.before, hit.message, *hit.after)]


def test_browse_pages_through_the_past_from_end_to_end(store, core):
    filled(store)

    def browse(name, before=0, after=0, thread=None):
        return store.run(core.recalling.browse("harold", name, before, after, thread))

    found = browse("m6", 0, 0)
    pages, first, last = [found.message.id], found, found
    while first.earlier or last.later:
        first, last = browse(pages[0], 2, 0), browse(pages[-1], 0, 2)
        pages = [*(each.id for each in first.before), *pages, *(each.id for each in last.after)]

    assert pages == [f"m{n}" for n in range(1, 12)]
    assert browse("m1", 5, 0).earlier is browse("m11", 0, 5).later is False
    assert (browse("m6", 5, 5).earlier, browse("m6", 4, 4).later) == (False, True)

    names, place = ("plumless", "buckeroo"), {"thread_id": "t1", "resource_id": "harold"}  # of one CRC-32
    store.run(pushing(store, [Message(role="user", content=name, id=name, **place) for name in names]))
    assert [browse(name).message.id for name in names] == [*names]
    push(store, 1, 3, thread="t3")
    assert [browse("m1", 0, 1, thread).after[0].id for thread in ("t1", "t3")] == ["m2", "m3"]
    assert browse("m99").message is browse("m1", thread="t9").message is None
    with pytest.raises(InvalidInputError, match="message_id"):
        browse("a b")
    with pytest.raises(InvalidInputError, match="resource_id"):
        store.run(core.recalling.recall("a b", asked("tea")))


def test_recall_answers_in_pages_bounded_by_hits_and_tokens(store, core):
    """A message has 10 tokens: a hit with its two neighbours has 30."""
    filled(store)
    found, offset = [], 0
    while offset is not None:
        page = recall(store, core, "turn", limit=4, offset=offset)
        found += [hit.id for hit in page.hits]
        offset = page.next
    assert len(found) == len(set(found)) == 14
    assert found == ids(store, core, "turn", limit=50)
    beyond = recall(store, core, "turn", offset=14)
    told = "there are no more than 14: ask with an offset below that"
    assert (beyond.hits, beyond.next, beyond.reason) == ((), None, told)

    first = recall(store, core, "turn", max_tokens=65)
    second = recall(store, core, "turn", max_tokens=65, offset=first.next)
    least = recall(store, core, "turn", max_tokens=1)
    assert (len(first.hits), first.next, len(least.hits), least.next) == (2, 2, 1, 1)
    assert not {hit.id for hit in first.hits} & {hit.id for hit in second.hits}
    assert len(recall(store, core, "turn", max_tokens=65, around=0).hits) == 6


def test_recall_asks_a_ranker_to_order_what_the_words_found(store, prefix):
    seen = []

    class Shortest:
        pool = 5

        def scores(self, query, texts):
            seen.append((query, len(texts)))
            return [-len(text) for text in texts]

    core = new_core(prefix, ranker=Shortest())
    say(store, "tea tea tea tea", "tea with a lot of milk", "tea", "coffee", *["tea and so on"] * 4)
    found = recall(store, core, "tea", limit=2)
    assert (found.hits[0].id, [hit.score for hit in found.hits]) == ("m3", [-3.0, -13.0])
    assert (ids(store, core, "water"), seen) == ([], [("tea", 5)])


def test_recall_passes_over_what_is_no_message(store, core):
    say(store, "the blue door", "is shut", start=10)
    write_plainly(store, b"no JSON", b"[]", b'{"id":"x"}', score=message(9).at)
    write_plainly(store, b"{", score=message(30).at)
    (hit,) = recall(store, core, "door").hits

    assert around(hit) == ["m10", "m11"]
    assert ids(store, core, "in 1970") == []
    seal(store, "c1", 20)
    store.client.zadd(store.keys.of("harold").sealed("c1"), {b"no JSON": 0})
    assert ids(store, core, "20") == ["m20"]


def test_answer_recall_answers_whatever_is_asked(client, prefix):
    world = World(client, prefix)
    world.say("tea")
    world.settle()
    for wrong, told in (
        ({"thread_id": 5}, "thread_id"), ({"role": [["user"]]}, "roles holds"), ({"before": {"day": 1}}, "before is"),
        ({"offset": 10**400}, "offset is"), ({"query": "tea after:someday"}, "after:someday"),
    ):  # fmt: skip
        answer = world.om.answer_recall({"query": "tea", **wrong}, "harold")
        assert answer.startswith("Nothing was looked up: "), wrong
        assert told in answer, wrong
        assert len(answer) < 300, wrong
    for query in ("the of", "x" * 100_000, "a\x00\x1b[2Jb", 'an "open', "\ud800 tea", "-tea", "水", "((" * 500):
        assert world.om.answer_recall({"query": query}, "harold"), query[:20]
