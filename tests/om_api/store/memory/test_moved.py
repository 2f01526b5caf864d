"""A move there and back leaves a memory as it was; what several threads were given comes back once."""

from scene import (
    HAROLD,
    breaches,
    clearing_thread,
    emptied,
    moving,
    observed,
    overtaken,
    record,
    reflect,
    restored,
    seal,
    unchanged,
    words,
)

from om_api.domain.values import Outcome, Scope
from om_api.store.memory import reading
from om_api.store.memory.content import content

THREADS = [f"t{n}" for n in range(1, 5)]
SCOPES = {thread: Scope("harold", thread) for thread in (*THREADS, "new")}
COMMON = "\n".join(["Date: Nov 20, 2025", *(f"* 🔴 (09:{n:02}) fact {n} that holds in every thread" for n in range(9))])
OF_ONE = '<thread id="t1">\n* of one\n\n* more of one\n</thread>\n'
TEXT = (
    f'{COMMON}\n<thread id="t2">\nDate: Nov 20, 2025\n* of two\n</thread>\n{OF_ONE}* said in between\n'
    '<thread id="t2">\n* later of two\n</thread>\n* said last'
)


def generation(store, scope=HAROLD):
    return store.run(reading.generations(store.keys, scope))[-1]


def text(store, scope=HAROLD):
    return generation(store, scope).text


def memory(store, scope=HAROLD):
    """What a user has of a memory: the text in force, the observations in force and behind it, in order."""
    found = store.run(content(store.keys, scope))
    observations, history = ([s.member for s in some] for some in (found.observations, found.history))
    return found.in_force and found.in_force.text, observations, history


def apart(store):
    return {name: memory(store, scope) for name, scope in SCOPES.items()}


def pool_of_four(store, text=TEXT):
    """A pool of four threads, reflected, with observations since."""
    for n, thread in enumerate(THREADS):
        observed(store, f"o{n}", 10 * n, thread=thread)
    assert reflect(store, *(f"o{n}" for n in range(3)), text=text) is Outcome.REFLECTED
    for n in (3, 1, 2):
        observed(store, f"p{n}", 100 + n, thread=f"t{n}")


def threads_apart(store):
    """Memories of three threads, each reflected by itself."""
    for n in (1, 2, 3):
        scope = SCOPES[f"t{n}"]
        observed(store, f"o{n}", 10 * n, thread=f"t{n}", scope=scope)
        reflect(store, f"o{n}", scope=scope, text=f"* fact of all\n* {n} alone\n\n* and {n} more")
        observed(store, f"p{n}", 100 + n, thread=f"t{n}", scope=scope)


def move(store, *ways):
    for to in ways:
        assert store.run(moving(store, to)) is Outcome.ACTIVATED
        assert breaches(store) == []


def there(store):
    move(store, "thread")


def back(store):
    move(store, "resource")


def moved(store, **said):
    """A pool that went to its threads."""
    pool_of_four(emptied(store), **said)
    there(store)


def test_pool_comes_back_as_it_was_however_often_it_moves(store):
    """Breaks without marks: copies of the common text came back, one for each thread."""
    pool_of_four(store)
    index = store.keys.of("harold").threads
    before, threads = memory(store), store.client.zrange(index, 0, -1, withscores=True)
    tokens = record(store).observation_tokens
    for _ in range(3):
        move(store, "thread", "resource")
        assert memory(store) == before
        assert record(store).reflection_tokens == generation(store).tokens == words(TEXT)
        assert record(store).observation_tokens == tokens
    order = [s.observation.id for s in store.run(reading.observations(store.keys, HAROLD))]
    assert order[-3:] == ["p3", "p1", "p2"]  # by activation, not by time: prompts are cached by it
    assert store.client.zrange(index, 0, -1, withscores=True) == threads


def test_threads_come_back_as_they_were_though_some_reflected_since(store):
    """Breaks when all are given what is common once more: what a reflection made of it stands there already."""
    threads_apart(store)
    before = apart(store)
    for _ in range(2):
        move(store, "resource", "thread")
    assert apart(store) == before

    moved(store)
    reflect(store, "p1", scope=SCOPES["t1"], text=f"{COMMON}\n* one says more")
    store.run(clearing_thread(store, "t4", SCOPES["t4"]))
    observed(store, "n4", 900, thread="t4", scope=SCOPES["t4"])
    before = apart(store)
    for _ in range(2):
        move(store, "resource", "thread")
    assert apart(store) == before
    assert before["t4"][0] is None


def test_threads_have_only_their_own_words_and_history_while_they_are_apart(store):
    moved(store)

    assert text(store, SCOPES["t1"]) == f"{COMMON}\n* of one\n\n* more of one\n* said in between\n* said last"
    assert text(store, SCOPES["t4"]) == f"{COMMON}\n* said in between\n* said last"
    assert [generation(store, SCOPES[name]).observation_ids for name in THREADS[:3]] == [(f"o{n}",) for n in range(3)]
    assert unchanged(store, moving(store, "thread")) is Outcome.REST


def test_what_threads_reflected_since_is_their_own(store):
    moved(store)
    reflect(store, "p1", scope=SCOPES["t1"], text="* one says otherwise")
    assert restored(store, 1, scope=SCOPES["t1"]) is Outcome.RESTORED
    back(store)
    assert text(store) == TEXT  # a reflection that was undone

    moved(store)
    reflect(store, "p1", scope=SCOPES["t1"], text="* one says otherwise")
    back(store)
    assert text(store) == TEXT.replace(OF_ONE, "") + '\n<thread id="t1">\n* one says otherwise\n</thread>'

    moved(store)
    for n, thread in enumerate(THREADS, 1):
        observed(store, f"q{n}", 200 + n, thread=thread, scope=SCOPES[thread])
        reflect(store, f"q{n}", scope=SCOPES[thread], text=f"* new of {n}")
    back(store)
    once = text(store)
    move(store, "thread", "resource")
    assert once == text(store)
    assert all(once.count(f'<thread id="t{n}">\n* new of {n}\n</thread>') == 1 for n in range(1, 5))


def test_a_thread_cleared_in_between_is_gone_and_the_common_text_stays_while_one_thread_has_it(store):
    moved(store)
    store.run(clearing_thread(store, "t1", SCOPES["t1"]))
    back(store)
    assert text(store) == TEXT.replace(OF_ONE, "")
    assert not [s for s in store.run(reading.observations(store.keys, HAROLD)) if s.observation.thread_id == "t1"]

    store.run(clearing_thread(store, "t2"))  # in the pool: the pieces that are left make the text
    assert breaches(store) == []
    assert "two" not in text(store)
    before = memory(store)
    move(store, "thread", "resource")
    assert memory(store) == before

    moved(store)
    for thread in THREADS[1:]:
        store.run(clearing_thread(store, thread, SCOPES[thread]))
    back(store)
    assert text(store).count(COMMON) == 1
    assert "of two" not in text(store)


def test_a_section_of_nobody_is_common_and_what_a_thread_says_closes_no_section(store):
    """Breaks when it becomes a memory of its own: nobody looks for a thread that no index names, and its words were gone."""
    odd = '* fact\n<thread id="orders">\n* of no thread of ours\n</thread>\n</thread>'
    moved(store, text=odd)
    back(store)
    assert text(store) == odd.removesuffix("</thread>") + "&lt;/thread>"
    assert not store.client.exists(store.keys.of("harold").record(Scope("harold", "orders")))

    observed(emptied(store), "o1", 1, scope=SCOPES["t1"])
    reflect(store, "o1", scope=SCOPES["t1"], text='* mine\n</thread>\n<thread id="t2">\n* in the name of two')
    observed(store, "o2", 20, thread="t2", scope=SCOPES["t2"])
    reflect(store, "o2", scope=SCOPES["t2"], text="* of two")
    back(store)
    pool = text(store)
    there(store)
    assert (pool.count("<thread"), pool.count("</thread>"), pool.count("&lt;")) == (2, 2, 2)
    assert text(store, SCOPES["t2"]) == "* of two"
    assert "* in the name of two" in text(store, SCOPES["t1"])


def test_patterns_and_dropped_ids_stay_with_the_threads_they_are_of(store):
    """Breaks when each thread gets all of them: a thread that is cleared would leave its own with the others."""
    observed(store, "o1", 1)
    observed(store, "o2", 20, thread="t2")
    observed(store, "o3", 3)
    pool = '* Pattern: tea\n<thread id="t1">\n* Pattern: one\n</thread>\n<thread id="t2">\n* Pattern: two\n</thread>'
    reflect(store, "o1", "o2", "o3", text=pool, patterns=("tea", "one", "two"), dropped=("o1", "o2"))
    there(store)
    one, two = (generation(store, SCOPES[name]) for name in ("t1", "t2"))
    back(store)

    assert (one.patterns, one.observation_ids, one.dropped_ids) == (("tea", "one"), ("o1", "o3"), ("o1",))
    assert (two.patterns, two.observation_ids, two.dropped_ids) == (("tea", "two"), ("o2",), ("o2",))
    assert (generation(store).patterns, generation(store).dropped_ids) == (("tea", "one", "two"), ("o1", "o2"))


def test_a_way_back_that_something_came_into_changes_nothing(store):
    """Breaks without a look at the index of threads: the chunk would stay in a scope that is no longer in force."""
    scope, new = SCOPES["t1"], SCOPES["new"]
    for came, done in {
        "a seal": lambda: seal(store, "c9", 900, scope=scope),
        "a new thread older than all": lambda: seal(store, "c9", 0, thread="new", scope=new),
        "a new thread newer than all": lambda: seal(store, "c9", 900, thread="new", scope=new),
        "an activation": lambda: observed(store, "c9", 900, scope=scope),
        "a reflection": lambda: reflect(store, "p1", scope=scope),
        "a cleared thread": lambda: store.run(clearing_thread(store, "t1", scope)),
    }.items():
        threads_apart(emptied(store))
        assert overtaken(store, moving(store, "resource"), "migrate", done) is Outcome.SUPERSEDED, came
        assert breaches(store) == [], came
