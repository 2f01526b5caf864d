"""Recall finds what is kept, wherever it stands, shows it as it was said, and never shows what was removed."""

import pytest
from forged_segments import FORGED, forging
from scene import (
    HAROLD,
    activate,
    buffer,
    cleared,
    clearing_thread,
    erasing,
    expiring,
    exported,
    filled,
    import_,
    interrupted,
    key_of,
    message,
    moving,
    observed,
    push,
    pushing,
    ready,
    reflect,
    restored,
    seal,
    trips,
    write_plainly,
)
from world import SMALL, World

from om_api import InvalidInputError, Message, StoreError, load_settings
from om_api.client.core import Core
from om_api.client.recall.recall_query import RecallLimits, recall_query
from om_api.domain.values import Scope
from om_api.domain.wire import encode_message
from om_api.store.memory import chunks, scope_state
from om_api.store.memory import seal as sealing

T1 = Scope("harold", "t1")


def new_core(prefix, **options):
    return Core(load_settings(None, {**SMALL, "OM_PREFIX": prefix}), lambda text: len(text.split()), **options)


@pytest.fixture
def core(prefix):
    return new_core(prefix)


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
    messages = [
        Message(
            role=role,
            content=text,
            id=f"m{n}",
            thread_id=thread,
            resource_id="harold",
            tokens=10,
            at=message(n).at,
            timestamp=message(n).at,
            **fields,
        )
        for n, text in enumerate(texts, start)
    ]
    store.run(pushing(store, messages))
    return messages


# -- where it stands ----------------------------------------------------------------------------------------------------

EVERYWHERE = [
    (1, "t1", "generation 1"),
    (3, "t1", "observation o2"),
    (5, "t1", ""),  # ready
    (7, "t1", ""),  # sealed
    (10, "t1", ""),  # raw
    (31, "t2", "observation o3"),
    (33, "t2", ""),
]


@pytest.mark.parametrize(("n", "thread", "covers"), EVERYWHERE)
def test_a_message_is_found_in_every_tier_and_thread_and_says_what_stands_for_it(store, core, n, thread, covers):
    filled(store)
    (hit,) = recall(store, core, str(n)).hits

    assert (hit.kind, hit.id, hit.thread_id, hit.text, hit.at) == (
        *("message", f"m{n}", thread),
        *(f"turn {n}", message(n).at),
    )
    assert hit.message == message(n, thread)
    assert (hit.role, hit.matched, hit.covered_by) == ("user", (str(n),), covers)
    assert 0 < hit.certainty <= 1
    assert hit.score > 0


@pytest.mark.parametrize("what", FORGED)
def test_of_an_index_that_was_forged_the_messages_are_searched(store, core, what):
    filled(store)
    for name in ("o1", "o2", "o3", "c4"):
        forging(store, name, what)

    assert [ids(store, core, str(n)) for n, _, _ in EVERYWHERE] == [[f"m{n}"] for n, _, _ in EVERYWHERE]
    assert set(ids(store, core, "role:user turn", limit=20)) >= {"m1", "m3", "m5", "m31"}
    assert store.run(core.recalling.browse("harold", "m31", 5, 5, None)).message == message(31, "t2")


def test_of_an_index_of_another_type_too(store, core):
    filled(store)
    for name in ("o1", "o3"):
        store.client.delete(key_of(store, "segment", name))
        store.client.rpush(key_of(store, "segment", name), "no text")

    assert [ids(store, core, str(n)) for n, _, _ in EVERYWHERE] == [[f"m{n}"] for n, _, _ in EVERYWHERE]
    assert store.run(core.recalling.browse("harold", "m31", 5, 5, None)).message == message(31, "t2")


def test_in_thread_scope_too(store, core):
    observed(store, "o1", 1, 2, scope=T1)
    reflect(store, "o1", scope=T1)
    observed(store, "o2", 31, thread="t2", scope=Scope("harold", "t2"))
    observed(store, "o3", 3, scope=T1)
    seal(store, "c4", 4, scope=T1)
    push(store, 5, 32)

    covers = {hit.id: hit.covered_by for hit in recall(store, core, "turn", limit=20).hits}
    assert covers == {
        "m1": "generation 1",
        "m2": "generation 1",
        "m3": "observation o3",
        "m31": "observation o2",
        "m4": "",
        "m5": "",
        "m32": "",
    }


def test_what_a_text_that_was_undone_no_longer_stands_for_is_covered_by_its_observation(store, core):
    filled(store)
    assert ids(store, core, "1") == ["m1"]
    restored(store, 0)
    (hit,) = recall(store, core, "1").hits

    assert hit.covered_by == "observation o1"


def test_a_thread_may_be_named(store, core):
    filled(store)

    assert (
        set(ids(store, core, "turn", thread_id="t2"))
        == set(ids(store, core, "turn thread:t2"))
        == {"m31", "m32", "m33"}
    )


def test_it_is_found_once_on_its_whole_way(store, core):
    """One reader, who keeps what it read at each of these steps."""
    found = []
    push(store, 1, 2)
    found += ids(store, core, "2")
    seal(store, "c1", 1, 2)
    found += ids(store, core, "2")
    buffer(store, "c1")
    found += ids(store, core, "2")
    activate(store, "c1")
    found += ids(store, core, "2")
    reflect(store, "c1")
    found += ids(store, core, "2")

    assert found == ["m2"] * 5


# -- a reader that keeps what it read -----------------------------------------------------------------------------------

GONE = {
    "erased from a source": (3, lambda store: store.run(erasing(store, "turn 3"))),
    "erased behind a generation": (2, lambda store: store.run(erasing(store, "turn 2"))),
    "erased from a chunk that is ready": (5, lambda store: store.run(erasing(store, "turn 5"))),
    "erased from a sealed chunk": (8, lambda store: store.run(erasing(store, "turn 8"))),
    "erased while raw": (10, lambda store: store.run(erasing(store, "turn 10"))),
    "its thread cleared": (4, lambda store: store.run(clearing_thread(store, "t1"))),
    "everything cleared": (31, cleared),
    "expired": (4, lambda store: store.client.delete(*expiring(store, "o2"))),
}


@pytest.mark.parametrize("how", GONE)
def test_what_was_removed_is_found_by_nobody_who_knew_it(store, core, how):
    filled(store)
    n, remove = GONE[how]
    before = ids(store, core, str(n))
    remove(store)

    assert (before, ids(store, core, str(n))) == ([f"m{n}"], [])
    assert ids(store, core, str(n)) == ids(store, new_core(store.keys.prefix), str(n))
    left = {
        each.id for hit in recall(store, core, "turn", limit=20, around=5).hits for each in (*hit.before, *hit.after)
    }
    assert f"m{n}" not in left


@pytest.mark.parametrize("how", GONE)
def test_every_other_message_is_found_as_before(store, core, how):
    filled(store)
    _, remove = GONE[how]
    ids(store, core, "turn", limit=20)
    remove(store)
    fresh = new_core(store.keys.prefix)

    assert set(ids(store, core, "turn", limit=20)) == set(ids(store, fresh, "turn", limit=20))


def test_a_memory_that_moved_to_the_other_scope_is_found_whole(store, core):
    filled(store)
    buffer(store, "c5")
    before = set(ids(store, core, "turn", limit=20))
    store.run(moving(store))

    assert set(ids(store, core, "turn", limit=20)) == before
    assert len(before) == 14


def test_an_import_in_the_place_of_what_was_cleared_is_read_anew(store, core):
    filled(store)
    file = exported(store)
    ids(store, core, "turn")
    cleared(store)
    assert ids(store, core, "turn") == []
    import_(store, file)

    assert len(ids(store, core, "turn", limit=20)) == 14


def test_a_reader_that_read_all_asks_for_what_is_there_and_for_what_it_shows(store, core):
    filled(store)
    first = store.run(trips(recalling(core, "turn")))[1]
    second = store.run(trips(recalling(core, "turn")))[1]
    nothing = store.run(trips(recalling(core, "unheard")))[1]

    assert (first, second, nothing) == (7, 2, 1)


def test_what_has_expired_is_missed_once(store, core):
    """The index of its thread goes on naming it until the next activation."""
    filled(store)
    recall(store, core, "turn", limit=20)
    store.client.delete(*expiring(store, "o2"))
    first = store.run(trips(recalling(core, "turn", limit=20)))[1]

    assert first > store.run(trips(recalling(core, "turn", limit=20)))[1] == 2


def test_what_a_reader_keeps_is_weighed_and_let_go_with_its_chunk(store, core):
    filled(store)
    ids(store, core, "turn")
    before = core.recalling._indexes.weight
    cleared(store)
    ids(store, core, "turn")

    assert core.recalling._indexes.weight < before / 2


def test_what_is_taken_into_the_vocabulary_is_reckoned_at_once(store, core):
    filled(store)
    ids(store, core, "turn")
    before = core.recalling._indexes.weight
    ids(store, core, "turn")

    assert core.recalling._indexes.weight == core.recalling._indexes.get("harold").weight > before


# -- while it is looked up ------------------------------------------------------------------------------------------------


def _split(store):
    (whole,) = [c for c in store.run(scope_state.look(store.keys, HAROLD)).chunks if c.id == "c5"]
    store.run(chunks.split(store.keys, HAROLD, whole, 1, 10, 2))


MEANWHILE = {
    "split": _split,
    "observed": lambda store: buffer(store, "c5"),
    "activated": lambda store: activate(store, "c4", by="a4"),
    "sealed": lambda store: seal(store, "c9", 10, 11),
    "erased": lambda store: store.run(erasing(store, "turn 5")),
    "cleared": lambda store: store.run(clearing_thread(store, "t1")),
    "expired": lambda store: store.client.delete(*expiring(store, "o1")),
}
READ = ["TIME", "GET", "HGET", "ZRANGE"]  # what there is, segments, messages of chunks without one, what is shown


@pytest.mark.parametrize("step", READ)
@pytest.mark.parametrize("how", MEANWHILE)
def test_whatever_happens_between_two_reads_each_message_is_found_once_and_what_is_gone_is_not(store, core, how, step):
    filled(store)
    found = store.run(interrupted(recalling(core, "turn", limit=20), step, lambda: MEANWHILE[how](store)))
    names, now = [hit.id for hit in found.hits], set(ids(store, new_core(store.keys.prefix), "turn", limit=20))
    raw_then = {"m10", "m11"} if how == "cleared" else set()

    assert len(names) == len(set(names))
    assert now <= set(names) <= now | raw_then


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


def test_a_memory_that_never_holds_still_is_told_to_be_asked_again(store, core):
    filled(store)
    steps, n, reply = recalling(core, "turn 7", limit=20), 100, None

    def restless():
        nonlocal n, reply
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            if getattr(step, "commands", [[""]])[0][0] == "ZRANGE":
                store.client.delete(*store.client.scan_iter(f"{store.keys.of('harold').base}:source:*"))
                for name in store.client.zrange(store.keys.of("harold").chunks(HAROLD), 0, -1):
                    n += 1
                    buffer(store, name.decode())
                    activate(store, name.decode(), by=f"a{n}")
                ready(store, f"x{n}", n)
            reply = yield step

    with pytest.raises(StoreError, match="harold changes faster than it can be searched: repeat"):
        store.run(restless())


# -- in its surroundings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "around", "shown"),
    [
        (6, 2, [4, 5, 6, 7, 8]),  # behind an observation, ready, sealed
        (9, 2, [7, 8, 9, 10, 11]),  # sealed, raw
        (1, 3, [1, 2, 3, 4]),
        (11, 1, [10, 11]),
        (32, 5, [31, 32, 33]),  # of its own thread alone
        (5, 0, [5]),
        (2, 20, [*range(1, 12)]),
    ],
)
def test_a_hit_stands_among_the_turns_of_its_thread_whatever_chunks_they_are_in(store, core, n, around, shown):
    filled(store)
    (hit,) = recall(store, core, str(n), around=around).hits

    assert [each.id for each in (*hit.before, hit.message, *hit.after)] == [f"m{each}" for each in shown]


def _exchange(n):
    """A question, a call of n tools at once, what each gave, and an answer."""
    calls = [{"type": "tool-call", "tool_call_id": f"c{k}", "name": "look", "args": {}} for k in range(n)]
    results = [
        [{"type": "tool-result", "tool_call_id": f"c{k}", "name": "look", "result": f"gave {k}"}] for k in range(n)
    ]
    return [("user", "what is there"), ("assistant", calls), *(("tool", one) for one in results), ("assistant", "that")]


def _said_in_chunks(store, talk, size):
    """Say it, and have each so many messages observed in a chunk of their own, what is over stays raw."""
    said = [say(store, content, role=role, start=n)[0] for n, (role, content) in enumerate(talk, 1)]
    for start in range(0, len(said) - size + 1, size):
        members = [encode_message(each) for each in said[start : start + size]]
        epoch = store.run(scope_state.look(store.keys, HAROLD)).record.epoch
        store.run(sealing.seal(store.keys, HAROLD, epoch, "t1", members, 10 * size, f"c{start}"))
        buffer(store, f"c{start}")


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_a_call_stands_with_all_of_its_results_however_many_were_called_at_once(store, core, n):
    _said_in_chunks(store, _exchange(n), 3)
    assert len(store.run(scope_state.look(store.keys, HAROLD)).chunks) == (n + 3) // 3
    exchange = [f"m{k}" for k in range(2, n + 3)]
    (hit,) = recall(store, core, f'"gave {n - 1}"', around=0).hits

    assert [each.id for each in (*hit.before, hit.message, *hit.after)] == exchange
    (asked_,) = recall(store, core, '"what is there"', around=1).hits
    assert [each.id for each in asked_.after] == exchange


def test_the_past_is_paged_through_from_end_to_end(store, core):
    filled(store)

    def browse(name, before, after):
        return store.run(core.recalling.browse("harold", name, before, after, None))

    found = browse("m6", 0, 0)
    pages, first, last = [found.message.id], found, found
    while first.earlier or last.later:
        first, last = browse(pages[0], 2, 0), browse(pages[-1], 0, 2)
        pages = [*(each.id for each in first.before), *pages, *(each.id for each in last.after)]

    assert pages == [f"m{n}" for n in range(1, 12)]
    assert (first.before, last.after) == ((), ()) or (first.earlier, last.later) == (False, False)
    assert browse("m1", 5, 0).earlier is browse("m11", 0, 5).later is False
    assert (browse("m6", 5, 5).earlier, browse("m6", 4, 4).later) == (False, True)


def test_an_id_that_looks_like_another_in_four_bytes_is_told_apart(store, core):
    """CRC-32 is the same of these two."""
    messages = [
        Message(role="user", content=name, id=name, thread_id="t1", resource_id="harold")
        for name in ("plumless", "buckeroo")
    ]
    store.run(pushing(store, messages))

    for name in ("plumless", "buckeroo"):
        assert store.run(core.recalling.browse("harold", name, 1, 1, None)).message.id == name


def test_one_name_in_two_threads_is_told_apart_by_its_thread(store, core):
    push(store, 1, 2)
    push(store, 1, 3, thread="t2")

    found = [store.run(core.recalling.browse("harold", "m1", 0, 1, thread)).after[0].id for thread in ("t1", "t2")]
    assert found == ["m2", "m3"]
    assert store.run(core.recalling.browse("harold", "m9", 1, 1, None)).message is None
    assert store.run(core.recalling.browse("harold", "m1", 1, 1, "t9")).message is None
    with pytest.raises(InvalidInputError, match="message_id"):
        store.run(core.recalling.browse("harold", "a b", 1, 1, None))


# -- how much of it -----------------------------------------------------------------------------------------------------


def test_a_phrase_is_found_behind_any_number_of_messages_that_have_its_words(store, core):
    """Catches a phrase that is looked for in the best hits alone: the shorter and the newer stand before it."""
    say(store, "the green old door of the house", *["door green"] * 300)

    assert ids(store, core, '"green old door"', limit=3) == ["m1"]
    assert ids(store, core, 'door -"door green"', limit=3) == ["m1"]
    assert ids(store, core, '"DOOR GREEN" "green"', limit=3, offset=299)[:1] != []


def test_hits_come_in_pages_each_once(store, core):
    filled(store)
    found, offset = [], 0
    while offset is not None:
        page = recall(store, core, "turn", limit=4, offset=offset)
        found += [hit.id for hit in page.hits]
        offset = page.next

    assert len(found) == len(set(found)) == 14
    assert found == ids(store, core, "turn", limit=50)
    beyond = recall(store, core, "turn", offset=14)
    assert (beyond.hits, beyond.next, beyond.reason) == (
        (),
        None,
        "there are no more than 14: ask with an offset below that",
    )


def test_tokens_bound_a_page_and_the_next_goes_on(store, core):
    """A message has 10 tokens: a hit with its two neighbours has 30."""
    filled(store)
    first = recall(store, core, "turn", max_tokens=65)
    second = recall(store, core, "turn", max_tokens=65, offset=first.next)
    least = recall(store, core, "turn", max_tokens=1)

    assert (len(first.hits), first.next) == (2, 2)
    assert not {hit.id for hit in first.hits} & {hit.id for hit in second.hits}
    assert (len(least.hits), least.next) == (1, 1)
    assert len(recall(store, core, "turn", max_tokens=65, around=0).hits) == 6


@pytest.mark.parametrize(
    "kinds", [(), ("message",), ("observation",), ("generation",), ("message", "observation", "generation")]
)
def test_notes_are_searched_where_they_are_asked_for_those_that_were_replaced_too(store, core, kinds):
    filled(store)
    reflect(store, "o2", text="* the roof")
    reflect(store, "o3", text="* roof and wall")
    found = recall(store, core, "3 noted roof", kinds=kinds)
    known = {"message": ["m3"], "observation": ["o1", "o2", "o3"], "generation": ["2", "3"]}

    assert {(hit.kind, hit.id) for hit in found.hits} == {
        (kind, name) for kind in kinds or ["message"] for name in known[kind]
    }
    for hit in found.hits:
        assert (hit.message is None) == (hit.kind != "message")
    said_by_users = recall(store, core, "3 noted roof", kinds=kinds, roles=("user",)).hits
    assert {hit.kind for hit in said_by_users} <= {"message"}


class Shortest:
    """The shorter a text the better."""

    pool = 5

    def __init__(self):
        self.seen = []

    def scores(self, query, texts):
        self.seen.append((query, len(texts)))
        return [-len(text) for text in texts]


def test_a_ranker_orders_what_the_words_found(store, prefix):
    ranker = Shortest()
    core = new_core(prefix, ranker=ranker)
    say(store, "tea tea tea tea", "tea with a lot of milk", "tea", "coffee")
    found = recall(store, core, "tea", limit=2)

    assert [hit.id for hit in found.hits] == ["m3", "m1"]
    assert [hit.score for hit in found.hits] == [-3.0, -15.0]
    assert ranker.seen == [("tea", 3)]
    assert ids(store, core, "tea", limit=2, offset=2) == ["m2"]
    assert ids(store, core, "tea", limit=1) == ["m3"]
    say(store, *[f"tea {'and so on ' * n}" for n in range(9, 1, -1)], "t tea", start=5)
    assert ranker.seen[-1] == ("tea", 3)
    recall(store, core, "tea", limit=1)
    assert ranker.seen[-1] == ("tea", 5)
    assert ids(store, core, "water") == []
    assert len(ranker.seen) == 4


# -- whatever was written -----------------------------------------------------------------------------------------------


def test_a_message_that_grew_is_found_by_what_it_said_first_and_by_what_it_says_now(client, prefix):
    world = World(client, prefix)
    world.say("the blue", id="m-1", tokens=1200)
    world.settle()
    world.say("the blue door", id="m-1", tokens=1300)
    found = {word: [(hit.id, hit.text) for hit in world.om.recall(word, "harold").hits] for word in ("blue", "door")}

    assert found == {"blue": [("m-1", "the blue")], "door": [("m-1+1", " door")]}


def test_one_that_grew_while_it_was_raw_is_found_once(client, prefix):
    world = World(client, prefix)
    world.say("the blue", id="m-1")
    world.om.recall("blue", "harold")
    world.say("the blue door", id="m-1")

    assert [hit.text for hit in world.om.recall("blue door", "harold").hits] == ["the blue door"]


def test_what_was_written_twice_is_found_once(client, prefix):
    world = World(client, prefix)
    for _ in range(2):
        world.say("the blue door", id="m-1")
        world.settle()

    assert [hit.id for hit in world.om.recall("door", "harold").hits] == ["m-1"]


def test_what_is_no_message_is_passed_over(store, core):
    say(store, "the blue door", "is shut", start=10)
    write_plainly(store, b"no JSON", b"[]", b'{"id":"x"}', score=message(9).at)
    write_plainly(store, b"{", score=message(30).at)
    (hit,) = recall(store, core, "door").hits

    assert (hit.id, [each.id for each in hit.before], [each.id for each in hit.after]) == ("m10", [], ["m11"])
    assert ids(store, core, "in 1970") == []
    seal(store, "c1", 20)
    store.client.zadd(store.keys.of("harold").sealed("c1"), {b"no JSON": 0})
    assert ids(store, core, "20") == ["m20"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no word"),
        ("-tea", "only excludes"),
        ("tea", "nothing that is kept holds these words"),
        ("tea in May", "nothing that is kept holds these words"),
        ("tea role:tool", "all threads"),
        ("in May 1970", "nothing that was said then is kept: name other days, or a word"),
        ("yesterday", "nothing that was said then is kept"),
        ("1970-01-01 -tea", "nothing that was said then is kept"),
        ("in 1970 role:tool", "or a word, or look in all threads"),
    ],
)
def test_an_answer_without_hits_says_why(store, core, text, reason):
    push(store, 1)
    found = recall(store, core, text)

    assert (found.hits, found.next) == ((), None)
    assert reason in found.reason


def test_what_is_no_name_of_a_resource_is_refused(store, core):
    with pytest.raises(InvalidInputError, match="resource_id"):
        store.run(core.recalling.recall("a b", asked("tea")))


# -- as a tool ----------------------------------------------------------------------------------------------------------


def test_a_call_of_the_tool_is_answered_from_every_thread(client, prefix):
    world = World(client, prefix)
    world.say("the code is walnut", thread="t-2", timestamp="2025-05-01T09:30:00Z")
    call = {"name": "recall", "input": {"query": "code"}}

    assert world.om.answer_recall(call, "harold").splitlines() == [
        *(f"Thread t-2, message {world.om.recall('code', 'harold').hits[0].id}:",),
        "> [Thu 2025-05-01 09:30] user: the code is walnut",
    ]
    assert world.om.answer_recall(call, "ada").startswith("Nothing was found for 'code': ")
    assert world.om.recall_tool("anthropic")["name"] == "recall"


def test_an_answer_is_gone_on_with_from_the_offset_it_names(client, prefix):
    world = World(client, prefix)
    world.say(*[f"walnut {n} " + "word " * 30 for n in range(12)], tokens=1)
    first = world.om.answer_recall({"query": "walnut"}, "harold", max_tokens=400)
    offset = int(first.rpartition("offset ")[2].rstrip("."))
    second = world.om.answer_recall({"query": "walnut", "offset": offset}, "harold", max_tokens=400)

    def hits(answer):
        return {line.partition("walnut ")[2].split()[0] for line in answer.splitlines() if line.startswith("> ")}

    assert 0 < len(hits(first)) == offset < 8
    assert not hits(first) & hits(second)
    assert world.settings.memory.tokenizer == "estimate"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"thread_id": 5}, "thread_id"),
        ({"thread_id": "a b"}, "thread_id"),
        ({"thread_id": ["t-1"]}, "thread_id"),
        ({"role": "actor"}, "roles holds 'actor'"),
        ({"role": {"a": 1}}, "roles holds 'a'"),
        ({"role": [["user"]]}, "roles holds"),
        ({"role": 5}, "roles holds '5'"),
        ({"after": "someday"}, "after is 'someday'"),
        ({"after": []}, "after is '[]'"),
        ({"before": {"day": 1}}, "before is"),
        ({"before": True}, "before is 'True'"),
        ({"offset": "3"}, "offset is '3'"),
        ({"offset": -1}, "offset is '-1'"),
        ({"offset": 1.5}, "offset is '1.5'"),
        ({"offset": 10**400}, "offset is"),
        ({"query": "tea after:someday"}, "after:someday"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_answered_with_what_can(client, prefix, wrong, told):
    om = World(client, prefix).om
    answer = om.answer_recall({"query": "tea", **wrong}, "harold")

    assert answer.startswith("Nothing was looked up: ")
    assert told in answer
    assert len(answer) < 300


@pytest.mark.parametrize(
    "query", ["the of", "x" * 100_000, "a\x00\x1b[2Jb", 'an "open', "\ud800 tea", "-tea", "水", "((" * 500]
)
def test_whatever_is_asked_an_answer_comes(client, prefix, query):
    world = World(client, prefix)
    world.say("tea")
    world.settle()

    assert world.om.answer_recall({"query": query}, "harold")
