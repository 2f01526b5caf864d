"""activate: ready chunks become observations at the end; the server renames, nothing is copied."""

import msgspec
import pytest
from scene import (
    AT,
    HAROLD,
    TTL,
    activate,
    activating,
    buffer,
    interrupted,
    member,
    nothing_changes,
    observation,
    observed,
    push,
    ready,
    record,
    seal,
)

from om_api.domain.values import Outcome, Scope
from om_api.store.audit.verify import verify
from om_api.store.memory import activate as activate_steps
from om_api.store.memory import chunks as chunks_steps
from om_api.store.memory import reading, scope_state


def stored(store, scope=HAROLD):
    return store.run(reading.observations(store.keys, scope))


def test_a_ready_chunk_becomes_an_observation(store):
    ready(store, "c1", 1, 2)

    assert activate(store, "c1") is Outcome.ACTIVATED
    (found,) = stored(store)
    assert (found.observation.id, found.observation.activation) == ("c1", "a1")
    assert store.run(scope_state.look(store.keys, HAROLD)).chunks == []


def test_its_messages_stay_behind_it_until_they_expire(store):
    ready(store, "c1", 1, 2)
    activate(store, "c1")
    of = store.keys.of("harold")

    assert store.client.zrange(of.source("c1"), 0, -1) == [member(1), member(2)]
    assert store.client.exists(of.sealed("c1"), of.chunk("c1")) == 0
    assert {store.client.ttl(of.source("c1")), store.client.ttl(of.sources("t1"))} <= {TTL, TTL - 1}


def test_totals_follow(store):
    ready(store, "c1", 1, 2)
    ready(store, "c2", 3)
    activate(store, "c1", "c2")
    now = record(store)

    assert (now.chunk_tokens, now.observation_tokens, now.observation_count) == (0, 10, 2)
    assert (now.observed_tokens, now.observed_messages) == (30, 3)


def test_activation_only_appends(store):
    observed(store, "c1", 1)
    before = [(s.seq, s.member) for s in stored(store)]
    ready(store, "c2", 2)
    activate(store, "c2", by="a2")

    assert [(s.seq, s.member) for s in stored(store)][:1] == before
    assert stored(store)[1].seq > before[0][0]


def test_chunks_of_one_activation_keep_their_order_however_they_are_named(store):
    for n in (1, 2, 3):
        ready(store, f"c{n}", n)
    activate(store, "c3", "c1", "c2")

    assert [s.observation.id for s in stored(store)] == ["c1", "c2", "c3"]


def test_chunks_that_a_look_gives_in_another_order_are_still_appended_by_seq(store):
    for n in (1, 2, 3):
        ready(store, f"c{n}", n)
    look = store.run(scope_state.look(store.keys, HAROLD))
    backwards = look.chunks[::-1]
    store.run(activate_steps.activate(store.keys, HAROLD, look.record.epoch, backwards, ["c1", "c2", "c3"], TTL))

    assert [s.observation.id for s in stored(store)] == ["c1", "c2", "c3"]


def test_chunks_of_one_seq_are_activated_all_the_same(store):
    """Catches an order that says of two alike that either comes first: Lua gives up sorting them, or not, as they lie."""
    names = [f"c{n}" for n in range(1, 8)]
    for n, name in enumerate(names, 1):
        ready(store, name, n)
    store.client.zadd(store.keys.of("harold").chunks(HAROLD), dict.fromkeys(names, 3))

    assert activate(store, *names) is Outcome.ACTIVATED
    assert sorted(s.observation.id for s in stored(store)) == names


def test_the_thread_learns_its_task(store):
    ready(store, "c1", 1, task="mend the roof")
    activate(store, "c1")

    assert store.client.hget(store.keys.of("harold").thread("t1"), "current_task") == b"mend the roof"


def test_of_two_chunks_of_a_thread_that_come_together_the_last_that_says_a_task_is_believed(store):
    ready(store, "c1", 1, task="mend the roof")
    ready(store, "c2", 2)
    activate(store, "c1", "c2")

    assert store.client.hget(store.keys.of("harold").thread("t1"), "current_task") == b"mend the roof"


@pytest.mark.parametrize(
    ("task", "suggested", "left"),
    [
        ("", "", ("mend the roof", "ask for nails")),
        ("paint the wall", "", ("paint the wall", "")),
        ("", "ask for paint", ("mend the roof", "ask for paint")),
        ("paint the wall", "ask for paint", ("paint the wall", "ask for paint")),
    ],
)
def test_a_thread_keeps_its_task_until_another_is_noted_and_a_suggestion_goes_with_its_task(
    store, task, suggested, left
):
    for n, said in ((1, ("mend the roof", "ask for nails")), (2, (task, suggested))):
        seal(store, f"c{n}", n)
        noted = msgspec.structs.replace(observation(store, f"c{n}"), task_state=said[0], suggested_response=said[1])
        store.run(chunks_steps.buffer(store.keys, "harold", noted, "w"))
        activate(store, f"c{n}", by=f"a{n}")
    state = store.client.hgetall(store.keys.of("harold").thread("t1"))

    assert (state[b"current_task"].decode(), state[b"suggested_response"].decode()) == left


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


def closing(store, thread="t1"):
    (state,) = store.run(reading.threads(store.keys, "harold", [thread]))
    return state.current_task, state.suggested_response


def test_a_task_and_a_suggestion_say_when_and_from_which_message_they_were_noted(store):
    noted(store, "c1", 1, 2, task="mend the roof", suggested="ask for nails")
    activate(store, "c1")
    (state,) = store.run(reading.threads(store.keys, "harold", ["t1"]))

    assert (state.current_task_at, state.current_task_from) == (AT + 2000, "m2")
    assert (state.suggested_response_at, state.suggested_response_from) == (AT + 2000, "m2")


@pytest.mark.parametrize(
    ("task", "suggested", "left"),
    [
        ("", "", ("", "")),
        ("", None, ("", "")),
        (None, "", ("mend the roof", "")),
        (None, None, ("mend the roof", "ask for nails")),
        ("", "say goodbye", ("", "say goodbye")),
    ],
    ids=["both none", "no task, and nothing of a suggestion", "no suggestion", "nothing said", "only a suggestion"],
)
def test_none_clears_and_nothing_said_leaves_what_stood(store, task, suggested, left):
    noted(store, "c1", 1, task="mend the roof", suggested="ask for nails")
    activate(store, "c1")
    noted(store, "c2", 2, task=task, suggested=suggested)
    activate(store, "c2", by="a2")

    assert closing(store) == left


def test_of_chunks_that_come_together_none_said_last_clears_what_was_said_first(store):
    noted(store, "c1", 1, task="mend the roof", suggested="ask for nails")
    noted(store, "c2", 2, task="", suggested="")
    activate(store, "c2", "c1")

    assert closing(store) == ("", "")


def test_what_a_worker_of_before_noted_without_saying_none_leaves_what_stood(store):
    noted(store, "c1", 1, task="mend the roof", suggested="ask for nails")
    activate(store, "c1")
    noted(store, "c2", 2)
    key = store.keys.of("harold").chunk("c2")
    older = msgspec.json.decode(store.client.hget(key, "observation"))
    for name in ("no_task", "no_suggestion", "spoken_at"):
        del older[name]
    store.client.hset(key, "observation", msgspec.json.encode(older))
    activate(store, "c2", by="a2")

    assert closing(store) == ("mend the roof", "ask for nails")


@pytest.mark.parametrize(("spoken", "left"), [(0, "ask for nails"), (1, "ask for nails"), (2, ""), (3, "")])
def test_a_suggestion_goes_with_the_actors_next_words_once_they_are_observed(store, spoken, left):
    """The second chunk tells nothing of a suggestion; the first one's was made from message 2."""
    noted(store, "c1", 1, 2, task="mend the roof", suggested="ask for nails")
    activate(store, "c1")
    noted(store, "c2", 3, spoken=spoken)
    activate(store, "c2", by="a2")

    assert closing(store) == ("mend the roof", left)


def test_a_suggestion_of_before_of_which_nobody_knows_the_time_goes_with_the_actors_next_words(store):
    key = store.keys.of("harold").thread("t1")
    store.client.hset(key, mapping={"current_task": "mend the roof", "suggested_response": "ask for nails"})
    noted(store, "c1", 1)
    noted(store, "c2", 2, spoken=2)
    activate(store, "c1")

    assert closing(store) == ("mend the roof", "ask for nails")
    activate(store, "c2", by="a2")
    assert closing(store) == ("mend the roof", "")


@pytest.mark.parametrize("behind", ["unsealed", "at the same time", "sealed", "ready", "sealed since"])
def test_a_suggestion_of_a_chunk_that_is_not_the_newest_of_its_thread_is_not_set(store, behind):
    noted(store, "c1", 1, 2, task="mend the roof", suggested="ask for nails")
    if behind in {"unsealed", "at the same time"}:
        key, score = store.keys.of("harold").messages("t1"), AT + 2000 + (behind == "unsealed")
        store.client.zadd(key, {member(9): score})
    if behind == "sealed":
        seal(store, "c2", 3)
    if behind == "ready":
        noted(store, "c2", 3)
    steps = activating(store, "c1")
    if behind == "sealed since":
        seal(store, "c2", 3)

    assert store.run(steps) is Outcome.ACTIVATED
    assert closing(store) == ("mend the roof", "")


def test_of_all_that_is_unsealed_the_newest_keeps_a_suggestion_away(store):
    noted(store, "c1", 5, 6, task="mend the roof", suggested="ask for nails")
    push(store, 1, 2, 9)
    activate(store, "c1")

    assert closing(store) == ("mend the roof", "")


def test_a_suggestion_is_not_set_of_a_chunk_that_comes_together_with_a_later_one(store):
    noted(store, "c1", 1, task="mend the roof", suggested="ask for nails")
    noted(store, "c2", 2)
    activate(store, "c1", "c2")

    assert closing(store) == ("mend the roof", "")


def test_what_is_raw_of_another_thread_or_older_keeps_no_suggestion_away(store):
    noted(store, "c1", 5, 6, task="mend the roof", suggested="ask for nails")
    push(store, 1)
    push(store, 31, thread="t2")
    seal(store, "c2", 32, thread="t2")
    activate(store, "c1")

    assert closing(store) == ("mend the roof", "ask for nails")


def test_of_a_thread_of_which_nothing_was_noted_only_when_is_written(store):
    noted(store, "c1", 1, spoken=1)
    activate(store, "c1")

    assert list(store.client.hgetall(store.keys.of("harold").thread("t1"))) == [b"observed_at"]


def test_fields_of_a_thread_that_are_not_ours_are_kept(store):
    store.client.hset(store.keys.of("harold").thread("t1"), "colour", "blue")
    ready(store, "c1", 1, task="mend the roof")
    activate(store, "c1")

    assert store.client.hget(store.keys.of("harold").thread("t1"), "colour") == b"blue"


def test_an_activation_repeated_with_its_id_answers_as_before(store):
    ready(store, "c1", 1)
    lost = activating(store, "c1")
    activate(store, "c1")
    with nothing_changes(store):
        assert store.run(lost) is Outcome.ACTIVATED


def test_of_two_activations_of_one_chunk_the_second_changes_nothing(store):
    """Breaks without the check of the state: time 0 a client and a worker see c1 ready, time 1 and 2 both activate it."""
    ready(store, "c1", 1)
    late = activating(store, "c1", by="a2")
    activate(store, "c1")
    with nothing_changes(store):
        assert store.run(late) is Outcome.SUPERSEDED


def _after_one_sealed(store):
    seal(store, "c1", 1)
    ready(store, "c2", 2)


REFUSED = {
    "another memory": (lambda s: ready(s, "c2", 2), lambda s: activating(s, "c2", epoch="other")),
    "not ready": (lambda s: seal(s, "c2", 2), lambda s: activating(s, "c2")),
    "an earlier one of its thread waits": (_after_one_sealed, lambda s: activating(s, "c2")),
    "nothing is chosen": (lambda s: ready(s, "c2", 2), lambda s: activating(s)),
    "its messages are gone": (
        lambda s: (ready(s, "c2", 2), s.client.delete(s.keys.of("harold").sealed("c2"))),
        lambda s: activating(s, "c2"),
    ),
    # breaks without the check: RENAME would put its messages in the place of those behind another observation
    "messages stand behind its name already": (
        lambda s: (ready(s, "c2", 2), _stand_behind(s, "c2", member(9))),
        lambda s: activating(s, "c2"),
    ),
    # breaks without the check: what the caller had nothing to say for would become an observation without text
    "it was seen before it was ready": (
        lambda s: seal(s, "c2", 2),
        lambda s: _seen_before(s, "c2"),
    ),
    "it is not ready, whatever the caller says for it": (
        lambda s: seal(s, "c2", 2),
        lambda s: _invented(s, "c2"),
    ),
    "no index names it": (
        lambda s: (ready(s, "c2", 2), ready(s, "c3", 3)),
        lambda s: _unlisted(s, "c2"),
    ),
}


def _stand_behind(store, chunk, *members):
    source = store.keys.of("harold").source(chunk)
    store.client.zadd(source, dict.fromkeys(members, 1))
    store.client.expire(source, 60)


def _seen_before(store, chunk):
    steps = activating(store, chunk)
    buffer(store, chunk)
    return steps


def _invented(store, chunk):
    look = store.run(scope_state.look(store.keys, HAROLD))
    chunks = [msgspec.structs.replace(one, observation=b'{"tokens":1}') for one in look.chunks]
    return activate_steps.activate(store.keys, HAROLD, look.record.epoch, chunks, [chunk], TTL)


def _unlisted(store, chunk):
    steps = activating(store, chunk)
    store.client.zrem(store.keys.of("harold").chunks(HAROLD), chunk)
    return steps


@pytest.mark.parametrize("why", REFUSED)
def test_a_refused_activation_changes_nothing(store, why):
    prepare, refused = REFUSED[why]
    prepare(store)
    steps = refused(store)
    with nothing_changes(store):
        assert store.run(steps) is Outcome.SUPERSEDED


def test_a_waiting_chunk_of_another_thread_holds_nothing_up(store):
    seal(store, "c1", 1)
    ready(store, "c2", 31, thread="t2")

    assert activate(store, "c2") is Outcome.ACTIVATED


def test_two_waiting_chunks_of_another_thread_hold_nothing_up(store):
    """Catches a chunk that is refused, though nobody chose it, because another of its thread waits before it."""
    seal(store, "c1", 1)
    seal(store, "c2", 2)
    ready(store, "c3", 31, thread="t2")

    assert activate(store, "c3") is Outcome.ACTIVATED


def test_an_earlier_chunk_that_nobody_named_holds_activation_up(store):
    """Breaks when only named chunks are checked: time 0 a look misses c1, time 1 c2 is activated, time 2 c1 comes after it."""
    seal(store, "c1", 1)
    ready(store, "c2", 2)
    look = store.run(scope_state.look(store.keys, HAROLD))
    blind = activate_steps.activate(store.keys, HAROLD, look.record.epoch, look.chunks[1:], ["c2"], TTL, "a1")
    with nothing_changes(store):
        assert store.run(blind) is Outcome.SUPERSEDED


def test_a_chunk_that_became_ready_meanwhile_is_left_for_the_next_time(store):
    ready(store, "c1", 1)
    seal(store, "c2", 2)
    done = store.run(interrupted(activating(store, "c1"), "activate", lambda: buffer(store, "c2")))

    assert done is Outcome.ACTIVATED
    assert [s.observation.id for s in stored(store)] == ["c1"]


def test_a_chunk_sealed_meanwhile_does_not_hold_activation_up(store):
    ready(store, "c1", 1)
    push(store, 2)

    def meanwhile():
        assert seal(store, "c2", 2) is Outcome.SEALED

    assert store.run(interrupted(activating(store, "c1"), "activate", meanwhile)) is Outcome.ACTIVATED
    assert store.run(verify(store.keys)) == []


def test_a_memory_of_one_thread_is_activated_by_itself(store):
    scope = Scope("harold", "t1")
    ready(store, "c1", 1, scope=scope)

    assert activate(store, "c1", scope=scope) is Outcome.ACTIVATED
    assert [s.observation.id for s in stored(store, scope)] == ["c1"]
    assert stored(store) == []


def test_the_index_of_sources_keeps_what_is_younger_than_the_sources_live_and_no_more(store):
    observed(store, "c1", 1)
    observed(store, "c2", 2)
    index, now = store.keys.of("harold").sources("t1"), int(store.client.time()[0]) * 1000
    store.client.zadd(index, {"young": now - (TTL - 5) * 1000, "gone": now - (TTL + 5) * 1000})
    observed(store, "c3", 3)

    assert {name.decode() for name in store.client.zrange(index, 0, -1)} == {"c1", "c2", "c3", "young"}
