"""activate: ready chunks become observations at the end; the server renames, nothing is copied."""

import msgspec
from scene import (
    AT,
    HAROLD,
    TTL,
    activate,
    activating,
    buffer,
    emptied,
    interrupted,
    member,
    nothing_changes,
    observation,
    observed,
    push,
    ready,
    record,
    seal,
    unchanged,
)

from om_api.domain.values import Outcome
from om_api.store.audit.verify import verify
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import reading, scope_state


def stored(store, scope=HAROLD):
    return store.run(reading.observations(store.keys, scope))


def names(store, scope=HAROLD):
    return [s.observation.id for s in stored(store, scope)]


def look(store):
    return store.run(scope_state.look(store.keys, HAROLD))


def planned(store, chunks, chosen, by="a1"):
    """An activation of chosen chunks by a look that gave these chunks."""
    return activate_steps.activate(
        store.keys, HAROLD, look(store).record.epoch, chunks, chosen, TTL, by, count=lambda _: 0
    )


def test_activate_appends_ready_chunks_by_seq_whatever_order_they_are_named_in(store):
    observed(store, "c0", 9)
    before = [(s.seq, s.member) for s in stored(store)]
    for n in (1, 2, 3):
        ready(store, f"c{n}", n)

    assert store.run(planned(store, look(store).chunks[::-1], ["c3", "c1", "c2"])) is Outcome.ACTIVATED
    found = stored(store)
    assert names(store) == ["c0", "c1", "c2", "c3"]
    assert [(s.seq, s.member) for s in found][:1] == before
    assert found[0].seq < found[1].seq < found[2].seq
    assert found[1].observation.activation == "a1"
    assert look(store).chunks == []


def test_activate_keeps_the_messages_until_they_expire_and_moves_the_totals(store):
    ready(store, "c1", 1, 2)
    ready(store, "c2", 3)
    activate(store, "c1", "c2")
    of, now = store.keys.of("harold"), record(store)

    assert store.client.zrange(of.source("c1"), 0, -1) == [member(1), member(2)]
    assert store.client.exists(of.sealed("c1"), of.chunk("c1")) == 0
    assert {store.client.ttl(key) for key in (of.source("c1"), of.segment("c1"), of.sources("t1"))} <= {TTL, TTL - 1}
    assert (now.chunk_tokens, now.observation_tokens, now.observation_count) == (0, 10, 2)
    assert (now.observed_tokens, now.observed_messages) == (30, 3)


def test_activate_takes_chunks_of_one_seq(store):
    """Catches an order that says of two alike that either comes first: Lua gives up sorting them, or not, as they lie."""
    chunks = [f"c{n}" for n in range(1, 8)]
    for n, name in enumerate(chunks, 1):
        ready(store, name, n)
    store.client.zadd(store.keys.of("harold").chunks(HAROLD), dict.fromkeys(chunks, 3))

    assert activate(store, *chunks) is Outcome.ACTIVATED
    assert sorted(names(store)) == chunks


# -- what a thread learns -----------------------------------------------------------------------------------------------


def noted(store, chunk, *numbers, task=None, suggested=None, spoken=0, thread="t1"):
    """A ready chunk: None is a section that is missing, "" one that says none."""
    seal(store, chunk, *numbers, thread=thread)
    said = msgspec.structs.replace(
        observation(store, chunk, thread=thread),
        task_state=task or "",
        suggested_response=suggested or "",
        no_task=task == "",
        no_suggestion=suggested == "",
        spoken_at=AT + spoken * 1000 if spoken else 0,
    )
    store.run(chunks_steps.buffer(store.keys, "harold", said, "w"))


def first_noted(store, *numbers):
    noted(store, "c1", *numbers, task="mend the roof", suggested="ask for nails")


def thread_of(store):
    return store.run(reading.threads(store.keys, "harold", ["t1"]))[0]


def closing(store):
    state = thread_of(store)
    return state.current_task, state.suggested_response


def test_activate_tells_a_thread_its_task_and_keeps_foreign_fields(store):
    key = store.keys.of("harold").thread("t1")
    store.client.hset(key, "colour", "blue")
    first_noted(store, 1, 2)
    activate(store, "c1")
    state = thread_of(store)

    assert (state.current_task_at, state.current_task_from) == (AT + 2000, "m2")
    assert (state.suggested_response_at, state.suggested_response_from) == (AT + 2000, "m2")
    assert (closing(store), store.client.hget(key, "colour")) == (("mend the roof", "ask for nails"), b"blue")

    emptied(store)
    noted(store, "c1", 1, spoken=1)
    activate(store, "c1")
    assert list(store.client.hgetall(key)) == [b"observed_at"]


def test_activate_replaces_clears_or_leaves_the_task_and_the_suggestion_by_what_is_said(store):
    rows = {
        (None, None): ("mend the roof", "ask for nails"),
        ("paint the wall", None): ("paint the wall", ""),
        (None, "ask for paint"): ("mend the roof", "ask for paint"),
        ("paint the wall", "ask for paint"): ("paint the wall", "ask for paint"),
        ("", ""): ("", ""),
        ("", None): ("", ""),
        (None, ""): ("mend the roof", ""),
        ("", "say goodbye"): ("", "say goodbye"),
    }
    for (task, suggested), left in rows.items():
        first_noted(emptied(store), 1)
        activate(store, "c1")
        noted(store, "c2", 2, task=task, suggested=suggested)
        activate(store, "c2", by="a2")
        assert closing(store) == left, (task, suggested)


def test_activate_of_two_chunks_of_a_thread_takes_what_was_said_last(store):
    first_noted(store, 1)
    noted(store, "c2", 2)
    activate(store, "c1", "c2")
    assert closing(store) == ("mend the roof", "")

    first_noted(emptied(store), 1)
    noted(store, "c2", 2, task="", suggested="")
    activate(store, "c2", "c1")
    assert closing(store) == ("", "")


def test_activate_drops_a_suggestion_once_later_words_of_the_actor_are_observed(store):
    """The second chunk tells nothing of a suggestion; the first one's was made from message 2."""
    for spoken, left in ((0, "ask for nails"), (1, "ask for nails"), (2, ""), (3, "")):
        first_noted(emptied(store), 1, 2)
        activate(store, "c1")
        noted(store, "c2", 3, spoken=spoken)
        activate(store, "c2", by="a2")
        assert closing(store) == ("mend the roof", left), spoken


def test_activate_drops_a_suggestion_without_a_time_with_the_actors_next_words(store):
    texts = {"current_task": "mend the roof", "suggested_response": "ask for nails"}
    store.client.hset(store.keys.of("harold").thread("t1"), mapping=texts)
    noted(store, "c1", 1)
    noted(store, "c2", 2, spoken=2)
    activate(store, "c1")
    assert closing(store) == ("mend the roof", "ask for nails")
    activate(store, "c2", by="a2")
    assert closing(store) == ("mend the roof", "")


def test_activate_sets_no_suggestion_of_a_chunk_that_is_not_the_newest_of_its_thread(store):
    def raw(*scores):
        key = store.keys.of("harold").messages("t1")
        store.client.zadd(key, {member(90 + n): AT + score for n, score in enumerate(scores)})

    before = {
        "unsealed": lambda: raw(2001),
        "unsealed of the same time": lambda: raw(2000),
        "older and newer ones unsealed": lambda: raw(500, 600, 2001),
        "sealed": lambda: seal(store, "c2", 3),
        "ready": lambda: noted(store, "c2", 3),
        "sealed since": lambda: None,
    }
    for behind, prepare in before.items():
        first_noted(emptied(store), 1, 2)
        prepare()
        steps = activating(store, "c1")
        if behind == "sealed since":
            seal(store, "c2", 3)
        assert store.run(steps) is Outcome.ACTIVATED
        assert closing(store) == ("mend the roof", ""), behind

    first_noted(emptied(store), 5, 6)
    push(store, 1)  # older, and those of another thread
    push(store, 31, thread="t2")
    seal(store, "c2", 32, thread="t2")
    activate(store, "c1")
    assert closing(store) == ("mend the roof", "ask for nails")


# -- refusals and races -------------------------------------------------------------------------------------------------


def test_activate_repeated_with_its_id_answers_as_before_and_another_one_changes_nothing(store):
    """Breaks without the check of the state: time 0 a client and a worker see c1 ready, time 1 and 2 both activate it."""
    ready(store, "c1", 1)
    lost, late = activating(store, "c1"), activating(store, "c1", by="a2")
    activate(store, "c1")
    with nothing_changes(store):
        assert store.run(lost) is Outcome.ACTIVATED
        assert store.run(late) is Outcome.SUPERSEDED


def _after_one_sealed(store):
    seal(store, "c1", 1)
    ready(store, "c2", 2)


def _stand_behind(store):
    """Breaks without the check: RENAME would put its messages in the place of those behind another observation."""
    ready(store, "c2", 2)
    source = store.keys.of("harold").source("c2")
    store.client.zadd(source, {member(9): 1})
    store.client.expire(source, 60)


def _seen_before(store):
    """Breaks without the check: what the caller had nothing to say for would become an observation without text."""
    steps = activating(store, "c2")
    buffer(store, "c2")
    return steps


def _invented(store):
    chunks = [msgspec.structs.replace(one, observation=b'{"tokens":1}') for one in look(store).chunks]
    return planned(store, chunks, ["c2"])


def _unlisted(store):
    steps = activating(store, "c2")
    store.client.zrem(store.keys.of("harold").chunks(HAROLD), "c2")
    return steps


def _unnamed(store):
    """Breaks when only named chunks are checked: time 0 a look misses c1, time 1 c2 is activated, time 2 c1 comes after it."""
    return planned(store, look(store).chunks[1:], ["c2"])


def test_activate_refused_changes_nothing(store):
    def ready_(s):
        ready(s, "c2", 2)

    def sealed(s):
        seal(s, "c2", 2)

    rows = {
        "another memory": (ready_, lambda s: activating(s, "c2", epoch="other")),
        "not ready": (sealed, lambda s: activating(s, "c2")),
        "an earlier one of its thread waits": (_after_one_sealed, lambda s: activating(s, "c2")),
        "an earlier one that nobody named waits": (_after_one_sealed, _unnamed),
        "nothing is chosen": (ready_, activating),
        "its messages are gone": (
            lambda s: (ready_(s), s.client.delete(s.keys.of("harold").sealed("c2"))),
            lambda s: activating(s, "c2"),
        ),
        "messages stand behind its name already": (_stand_behind, lambda s: activating(s, "c2")),
        "it was seen before it was ready": (sealed, _seen_before),
        "it is not ready, whatever the caller says for it": (sealed, _invented),
        "no index names it": (lambda s: (ready_(s), ready(s, "c3", 3)), _unlisted),
    }
    for why, (prepare, refused) in rows.items():
        prepare(emptied(store))
        steps = refused(store)
        assert unchanged(store, steps) is Outcome.SUPERSEDED, why


def test_activate_is_not_held_up_by_waiting_chunks_of_another_thread(store):
    """Catches a chunk that is refused, though nobody chose it, because another of its thread waits before it."""
    seal(store, "c1", 1)
    seal(store, "c2", 2)
    ready(store, "c3", 31, thread="t2")

    assert activate(store, "c3") is Outcome.ACTIVATED


def test_activate_leaves_what_became_ready_or_sealed_meanwhile(store):
    ready(store, "c1", 1)
    seal(store, "c2", 2)
    push(store, 3)

    def meanwhile():
        buffer(store, "c2")
        assert seal(store, "c3", 3) is Outcome.SEALED

    assert store.run(interrupted(activating(store, "c1"), "activate", meanwhile)) is Outcome.ACTIVATED
    assert names(store) == ["c1"]
    assert store.run(verify(store.keys)) == []


def test_activate_keeps_an_index_of_sources_as_long_as_they_live(store):
    observed(store, "c1", 1)
    observed(store, "c2", 2)
    index, now = store.keys.of("harold").sources("t1"), int(store.client.time()[0]) * 1000
    store.client.zadd(index, {"young": now - (TTL - 5) * 1000, "gone": now - (TTL + 5) * 1000})
    observed(store, "c3", 3)

    assert {name.decode() for name in store.client.zrange(index, 0, -1)} == {"c1", "c2", "c3", "young"}
