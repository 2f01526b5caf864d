"""A move there and back leaves a memory as it was; what several threads were given comes back once."""

import pytest
from scene import (
    HAROLD,
    breaches,
    clearing_thread,
    interrupted,
    lines,
    moving,
    nothing_changes,
    observed,
    push,
    ready,
    record,
    reflect,
    restored,
    seal,
    words,
    write_plainly,
)

from om_api.domain.values import Outcome, Scope
from om_api.store.memory import clear, reading
from om_api.store.memory.content import content
from om_api.store.sharing import copies

THREADS = [f"t{n}" for n in range(1, 11)]
SCOPES = {thread: Scope("harold", thread) for thread in THREADS}
COMMON = "\n".join(
    ["Date: Nov 20, 2025", *(f"* 🔴 (09:{n:02}) fact {n} that holds in every thread" for n in range(40))]
)
TEXT = f"""{COMMON}
<thread id="t2">
Date: Nov 20, 2025
* of two
</thread>
<thread id="t1">
* of one

* more of one
</thread>
* said in between
<thread id="t2">
* later of two
</thread>
* said last"""


def generation(store, scope=HAROLD):
    return store.run(reading.generations(store.keys, scope))[-1]


def text(store, scope=HAROLD):
    return generation(store, scope).text


def memory(store, scope=HAROLD):
    """What a user has of a memory: the text in force, the observations in force and behind it, in order."""
    found = store.run(content(store.keys, scope))
    observations, history = ([s.member for s in some] for some in (found.observations, found.history))
    return found.in_force and found.in_force.text, observations, history


def pooled(store, text=TEXT):
    """A pool of ten threads, reflected, with observations since."""
    for n, thread in enumerate(THREADS):
        observed(store, f"o{n}", 10 * n, thread=thread)
    assert reflect(store, *(f"o{n}" for n in range(8)), text=text) is Outcome.REFLECTED
    for n in (3, 1, 2):
        observed(store, f"p{n}", 100 + n, thread=f"t{n}")


def apart(store, observations=True):
    """Memories of three threads, each reflected by itself."""
    for n in (1, 2, 3):
        scope = SCOPES[f"t{n}"]
        observed(store, f"o{n}", 10 * n, thread=f"t{n}", scope=scope)
        reflect(store, f"o{n}", scope=scope, text=f"* fact of all\n* {n} alone\n\n* and {n} more")
        if observations:
            observed(store, f"p{n}", 100 + n, thread=f"t{n}", scope=scope)


def move(store, to):
    assert store.run(moving(store, to)) is Outcome.ACTIVATED
    assert breaches(store) == []


def there(store):
    move(store, "thread")


def back(store):
    move(store, "resource")


def test_a_pool_that_went_to_its_threads_comes_back_as_it_was(store):
    """Breaks without marks: ten copies of the common text came back, one for each thread."""
    pooled(store)
    before = memory(store)
    there(store)
    back(store)

    assert memory(store) == before
    assert record(store).reflection_tokens == generation(store).tokens == words(TEXT)


def test_ten_moves_there_and_back_add_no_token(store):
    pooled(store)
    before, members = memory(store), []
    for _ in range(10):
        there(store)
        back(store)
        members.append((memory(store), record(store).reflection_tokens, record(store).observation_tokens))

    assert members == [(before, words(TEXT), record(store).observation_tokens)] * 10


def test_threads_that_went_to_a_pool_come_back_as_they_were(store):
    apart(store)
    before = {name: memory(store, SCOPES[name]) for name in ("t1", "t2", "t3")}
    for _ in range(3):
        back(store)
        there(store)

    assert {name: memory(store, SCOPES[name]) for name in ("t1", "t2", "t3")} == before


def test_threads_of_which_some_reflected_since_come_back_as_they_were(store):
    """Breaks when all are given what is common once more: what a reflection made of it stands there already."""
    pooled(store)
    there(store)
    reflect(store, "p1", scope=SCOPES["t1"], text=f"{COMMON}\n* one says more")
    store.run(clearing_thread(store, "t9", SCOPES["t9"]))
    observed(store, "n9", 900, thread="t9", scope=SCOPES["t9"])
    before = {name: memory(store, scope) for name, scope in SCOPES.items()}
    for _ in range(3):
        back(store)
        there(store)

    assert {name: memory(store, scope) for name, scope in SCOPES.items()} == before
    assert before["t9"][0] is None


def test_what_one_thread_has_is_in_no_other_while_they_are_apart(store):
    pooled(store)
    there(store)

    assert text(store, SCOPES["t1"]) == f"{COMMON}\n* of one\n\n* more of one\n* said in between\n* said last"
    assert text(store, SCOPES["t9"]) == f"{COMMON}\n* said in between\n* said last"


def test_what_a_thread_reflected_since_is_its_own(store):
    pooled(store)
    there(store)
    reflect(store, "p1", scope=SCOPES["t1"], text="* one says otherwise")
    back(store)

    shared = TEXT.replace('<thread id="t1">\n* of one\n\n* more of one\n</thread>\n', "")
    assert text(store) == f'{shared}\n<thread id="t1">\n* one says otherwise\n</thread>'


def test_what_all_threads_reflected_since_stays_with_each(store):
    pooled(store)
    there(store)
    for n, thread in enumerate(THREADS, 1):
        observed(store, f"q{n}", 200 + n, thread=thread, scope=SCOPES[thread])
        reflect(store, f"q{n}", scope=SCOPES[thread], text=f"* new of {n}")
    back(store)
    once = text(store)
    there(store)
    back(store)

    assert once == text(store)
    assert all(once.count(f'<thread id="t{n}">\n* new of {n}\n</thread>') == 1 for n in range(1, 11))


def test_messages_and_observations_that_came_in_between_stand_behind_what_was_there(store):
    pooled(store)
    _, before, history = memory(store)
    there(store)
    push(store, 300)
    observed(store, "q5", 205, thread="t5", scope=SCOPES["t5"])
    observed(store, "q1", 201, thread="t1", scope=SCOPES["t1"])
    back(store)
    after = memory(store)

    assert after[0] == TEXT
    assert [o["id"] for o in map(lines_of, after[1])][len(before) :] == ["q1", "q5"]
    assert (after[1][: len(before)], after[2]) == (before, history)


def lines_of(member):
    return lines(member)[0]


def test_observations_keep_the_order_in_which_they_were_activated(store):
    """Breaks when they are sorted by time: p3 was activated first, and stands in a block that prompts are cached by."""
    pooled(store)
    there(store)
    back(store)

    assert [s.observation.id for s in store.run(reading.observations(store.keys, HAROLD))][-3:] == ["p3", "p1", "p2"]


def test_a_thread_that_was_cleared_in_between_is_gone_and_all_else_comes_back(store):
    pooled(store)
    there(store)
    store.run(clearing_thread(store, "t1", SCOPES["t1"]))
    back(store)

    assert text(store) == TEXT.replace('<thread id="t1">\n* of one\n\n* more of one\n</thread>\n', "")
    assert not [s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.thread_id == "t1"]


def test_a_common_text_comes_back_while_one_thread_has_it(store):
    pooled(store)
    there(store)
    for thread in THREADS[1:]:
        store.run(clearing_thread(store, thread, SCOPES[thread]))
    back(store)
    once = text(store)

    assert once.count(COMMON) == 1
    assert "of two" not in once


def test_a_thread_cleared_in_the_pool_leaves_pieces_that_make_the_text(store):
    pooled(store)
    there(store)
    back(store)
    store.run(clearing_thread(store, "t2"))

    assert breaches(store) == []
    assert "two" not in text(store)
    before = memory(store)
    there(store)
    back(store)
    assert memory(store) == before


def test_a_thread_that_came_in_between_brings_what_is_its_own(store):
    pooled(store)
    there(store)
    scope = Scope("harold", "new")
    observed(store, "n1", 400, thread="new", scope=scope)
    reflect(store, "n1", scope=scope, text="* of the new one")
    back(store)
    first = text(store)
    there(store)
    seen = text(store, scope)
    back(store)

    assert first == f'{TEXT}\n<thread id="new">\n* of the new one\n</thread>' == text(store)
    assert seen == "* of the new one"


def test_a_thread_that_was_only_raw_in_between_is_given_nothing(store):
    """Breaks when only threads with a memory are asked: what the others have in common came to one that never had it."""
    pooled(store)
    there(store)
    push(store, 401, thread="new")
    back(store)
    there(store)

    assert memory(store, Scope("harold", "new"))[0] is None
    assert memory(store, SCOPES["t1"])[0] is not None


def test_an_observation_forgotten_in_between_stays_forgotten(store):
    pooled(store)
    _, observations, history = memory(store)
    there(store)
    stored = store.run(reading.observations(store.keys, SCOPES["t1"]))[0]
    store.run(clear.forget(store.keys, SCOPES["t1"], record(store, SCOPES["t1"]).epoch, stored))
    back(store)

    assert memory(store) == (TEXT, [member for member in observations if member != stored.member], history)


def test_a_reflection_undone_in_between_brings_the_common_text_back_once(store):
    pooled(store)
    before = memory(store)
    there(store)
    reflect(store, "p1", scope=SCOPES["t1"], text="* one says otherwise")
    assert restored(store, 1, scope=SCOPES["t1"]) is Outcome.RESTORED
    back(store)

    assert memory(store) == before


def test_a_reflection_undone_in_the_pool_moves_as_its_text(store):
    pooled(store)
    reflect(store, "p1", text="* other")
    assert restored(store, 1) is Outcome.RESTORED
    before = memory(store)
    there(store)
    back(store)

    assert memory(store) == before


@pytest.mark.parametrize("start", ["resource", "thread"])
def test_a_memory_without_reflection_moves_there_and_back(store, start):
    first, other = ("thread", "resource") if start == "resource" else ("resource", "thread")
    scopes = [HAROLD] if start == "resource" else list(SCOPES.values())[:3]
    for n in (2, 1, 3):
        scope = HAROLD if start == "resource" else SCOPES[f"t{n}"]
        observed(store, f"o{n}", n * 10, thread=f"t{n}", scope=scope)
    before = [memory(store, scope) for scope in scopes]
    move(store, first)
    move(store, other)

    assert [memory(store, scope) for scope in scopes] == before


def test_a_memory_of_raw_messages_alone_moves_there_and_back(store):
    seal(store, "c1", 1)
    store.run(clearing_thread(store, "t1"))
    push(store, 2)
    there(store)
    back(store)

    assert memory(store) == (None, [], [])


def test_a_section_of_nobody_is_common_and_comes_back(store):
    """Breaks when it becomes a memory of its own: nobody looks for a thread that no index names, and its words were gone."""
    odd = '* fact\n<thread id="orders">\n* of no thread of ours\n</thread>\n</thread>'
    pooled(store, text=odd)
    there(store)
    back(store)

    assert text(store) == odd.removesuffix("</thread>") + "&lt;/thread>"
    assert not store.client.exists(store.keys.of("harold").record(Scope("harold", "orders")))


def test_the_index_of_threads_says_what_it_said(store):
    pooled(store)
    index = store.keys.of("harold").threads
    before = store.client.zrange(index, 0, -1, withscores=True)
    there(store)
    back(store)

    assert store.client.zrange(index, 0, -1, withscores=True) == before


def test_a_thread_that_only_a_hint_named_takes_nothing_away_with_it(store):
    """Breaks when no index names it: its hint was taken up, and its share of the pool stayed behind for ever."""
    pooled(store)
    write_plainly(store, b"no message", thread="hinted")
    there(store)
    store.client.delete(store.keys.adopt)
    back(store)

    assert text(store) == TEXT
    assert not [key for key in store.client.keys(f"{store.keys.prefix}*") if key.endswith(b"record:hinted")]


def test_a_piece_of_a_thread_that_no_index_names_any_more_is_not_lost(store):
    pooled(store)
    there(store)
    back(store)
    of = store.keys.of("harold")
    store.client.zrem(of.threads, "t1")
    store.client.delete(of.reflected(HAROLD, 1), of.observations(HAROLD))
    for to in ("thread", "resource"):
        assert store.run(moving(store, to)) is Outcome.ACTIVATED

    assert text(store) == TEXT


def test_what_a_thread_says_closes_no_section_of_the_pool(store):
    scope = SCOPES["t1"]
    observed(store, "o1", 1, scope=scope)
    reflect(store, "o1", scope=scope, text='* mine\n</thread>\n<thread id="t2">\n* in the name of two')
    observed(store, "o2", 20, thread="t2", scope=SCOPES["t2"])
    reflect(store, "o2", scope=SCOPES["t2"], text="* of two")
    back(store)
    pool = text(store)
    there(store)

    assert (pool.count("<thread"), pool.count("</thread>"), pool.count("&lt;")) == (2, 2, 2)
    assert text(store, SCOPES["t2"]) == "* of two"
    assert "* in the name of two" in text(store, scope)


def test_patterns_stay_with_who_is_told_of_them(store):
    """Breaks when each thread gets all of them: a thread that is cleared would leave its own with the others."""
    observed(store, "o1", 1)
    observed(store, "o2", 20, thread="t2")
    pool = '* Pattern: tea\n<thread id="t1">\n* Pattern: one\n</thread>\n<thread id="t2">\n* Pattern: two\n</thread>'
    reflect(store, "o1", "o2", text=pool, patterns=("tea", "one", "two"))
    there(store)
    seen = [generation(store, SCOPES[name]).patterns for name in ("t1", "t2")]
    back(store)

    assert seen == [("tea", "one"), ("tea", "two")]
    assert generation(store).patterns == ("tea", "one", "two")


def test_each_thread_stands_for_its_own_history_alone(store):
    pooled(store)
    there(store)
    names = [generation(store, SCOPES[thread]).observation_ids for thread in THREADS[:8]]

    assert names == [(f"o{n}",) for n in range(8)]


def test_ready_chunks_are_activated_on_the_way(store):
    pooled(store)
    ready(store, "c1", 500)
    there(store)
    ready(store, "c2", 501, thread="t2", scope=SCOPES["t2"])
    back(store)

    assert text(store) == TEXT
    assert [s.observation.id for s in store.run(reading.observations(store.keys, HAROLD))][-2:] == ["c1", "c2"]


@pytest.mark.parametrize("n", [0, 900], ids=["older than all", "newer than all"])
def test_a_thread_that_is_sealed_while_the_others_become_a_pool_stops_the_move(store, n):
    """Breaks without a look at the index of threads: its chunk would stay in a scope that is no longer in force."""
    apart(store)
    new = Scope("harold", "new")
    steps = interrupted(moving(store, "resource"), "migrate", lambda: seal(store, "c9", n, thread="new", scope=new))

    assert store.run(steps) is Outcome.SUPERSEDED
    assert store.client.get(store.keys.of("harold").scope) == b"thread"
    assert breaches(store) == []


@pytest.mark.parametrize("came", ["a seal", "an activation", "a reflection", "a cleared thread"])
def test_a_way_back_that_something_came_into_changes_nothing(store, came):
    pooled(store)
    there(store)
    scope = SCOPES["t1"]
    ready(store, "c1", 500, scope=SCOPES["t4"], thread="t4") if came == "an activation" else None
    done = {
        "a seal": lambda: seal(store, "c9", 900, scope=scope),
        "an activation": lambda: observed(store, "c9", 900, scope=scope),
        "a reflection": lambda: reflect(store, "p1", scope=scope),
        "a cleared thread": lambda: store.run(clearing_thread(store, "t1", scope)),
    }

    def meanwhile():
        done[came]()
        changed.append({key: store.client.dump(key) for key in store.client.keys(f"{store.keys.prefix}*")})

    changed: list = []
    outcome = store.run(interrupted(moving(store, "resource"), "migrate", meanwhile))

    assert outcome is Outcome.SUPERSEDED
    assert {key: store.client.dump(key) for key in store.client.keys(f"{store.keys.prefix}*")} == changed[0]


def test_a_move_to_where_it_is_leaves_pieces_alone(store):
    pooled(store)
    there(store)
    with nothing_changes(store):
        assert store.run(moving(store, "thread")) is Outcome.REST


def test_what_a_reflection_let_go_of_is_still_named_after_a_move(store):
    observed(store, "o1", 1)
    observed(store, "o2", 2, thread="t2")
    observed(store, "o3", 3)
    reflect(store, "o1", "o2", "o3", dropped=("o1", "o2"))
    store.run(moving(store))
    apart = [generation(store, SCOPES[thread]) for thread in ("t1", "t2")]
    store.run(moving(store, "resource"))

    assert [(each.observation_ids, each.dropped_ids) for each in apart] == [(("o1", "o3"), ("o1",)), (("o2",), ("o2",))]
    assert generation(store).dropped_ids == ("o1", "o2")
    assert breaches(store) == []


@pytest.mark.parametrize(("told", "up_to"), [(["t1", "t2"], 2), (["t1"], 1), (["t2"], 0), ([], 0)])
def test_others_were_told_of_a_pool_up_to_the_first_that_its_thread_had_not_told(store, told, up_to):
    for n, thread in enumerate(("t1", "t2"), 1):
        observed(store, f"o{n}", n * 10, thread=thread, scope=SCOPES[thread])
        if thread in told:
            now = record(store, SCOPES[thread])
            store.run(copies.note_shared(store.keys, SCOPES[thread], now.epoch, "team", now.seq))
    store.run(moving(store, "resource"))

    assert store.run(copies.shared_up_to(store.keys, HAROLD, ["team"])) == {"team": up_to}
