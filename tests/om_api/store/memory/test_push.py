"""push: accepted once, counted exactly, due when somebody must look."""

import pytest
from msgspec import structs
from scene import AT, HAROLD, call, counts, emptied, interrupted, member, message, nothing_changes, push, pushing, seal

from om_api.domain.errors import NotReplicatedError, RateLimitedError, StoreError
from om_api.domain.identity import KnownId, record_of
from om_api.domain.push_limits import THE_REST_S, Pusher, PushLimits, PushPace
from om_api.domain.values import Scope
from om_api.store.memory import due, note, scope_state
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import INSIDE, WHATEVER, replicas_of

T1 = Scope("harold", "t1")


def is_due(store, scope="harold"):
    return store.client.zscore(store.keys.due_observe, scope) is not None


def rest(store, scope):
    """As after a look that found nothing to do: due from 100 tokens on."""
    store.run(note.note(store.keys, scope, "", note.Decided("", scope_state.wake_field(scope), 100)))
    store.client.delete(store.keys.due_observe)


def wakes(store, scope, at):
    """From how many tokens on a push is due."""
    store.run(note.note(store.keys, scope, "", note.Decided("", scope_state.wake_field(scope), at)))


def test_push_adds_and_counts_what_is_new_and_names_every_duplicate(store):
    of, other = store.keys.of("harold"), structs.replace(message(1), content="something else")
    store.clock.offset_ms = -86_400_000
    pushed = push(store, 1, 2)
    assert (pushed.added, pushed.duplicates, pushed.due) == (2, (), ("harold",))
    assert abs(store.clock.offset_ms) < 60_000  # a writer with a wrong clock learns the server's
    assert counts(store) == {"t1": 20, "#t1": 2, "*": 20}
    assert store.client.zrange(of.messages("t1"), 0, -1) == [member(1), member(2)]
    assert store.client.ttl(of.known("t1")) == -1
    key, ids = store.client.hmget(of.tokens, "*key", "*ids")
    assert (len(bytes.fromhex(key.decode())), ids) == (16, b"1")
    with nothing_changes(store):
        repeated = push(store, 1, 2)
        assert (repeated.added, repeated.duplicates) == (0, ("m1", "m2"))
        assert push(store, 1, tokens=99).duplicates == ("m1",)
        changed = store.run(pushing(store, [message(1), other]))
        assert (changed.added, changed.duplicates) == (0, ("m1",))
    ((each, known),) = changed.other
    assert (each.message.content, known) == ("something else", KnownId.of(record_of(message(1))))
    store.client.delete(store.keys.due_observe)  # the reply and the mark of a push were lost, which is repeated
    assert (push(store, 1).due, is_due(store)) == (("harold",), True)
    store.client.hdel(of.tokens, "*ids")  # an older version may have accepted ids that are not known
    assert push(store, 1, thread="t2").added == 1  # one id in two threads is two messages
    assert store.client.hmget(of.tokens, "*key", "*ids") == [key, None]
    twice = store.run(pushing(store, [message(3), message(3, tokens=7), message(1, "t2"), message(4)]))
    assert (twice.added, twice.duplicates) == (2, ("m3", "m1"))
    assert counts(store) == {"t1": 40, "#t1": 4, "t2": 10, "#t2": 1, "*": 50}


def test_push_knows_ids_of_sealed_messages(store):
    """Nothing is unsealed: there is no counter to write and nobody who must look."""
    seal(store, "c1", 1)
    store.client.delete(store.keys.due_observe)
    for thread_scope in (False, True):
        with nothing_changes(store):
            pushed = push(store, 1, thread_scope=thread_scope)
        assert (pushed.duplicates, pushed.due) == (("m1",), ()), thread_scope


def test_push_adds_notes_and_names_thousands(store):
    """Catches a part that is left out, or a reply that is cut, where they are named by the thousand."""
    assert push(store, *range(4_100)).added == 4_100
    assert counts(store) == {"t1": 41_000, "#t1": 4_100, "*": 41_000}
    of = store.keys.of("harold")
    store.client.unlink(of.messages("t1"))  # known by their ids alone
    assert push(store, *range(4_100)).duplicates == tuple(f"m{n}" for n in range(4_100))
    assert store.client.exists(of.messages("t1")) == 0
    assert store.run(pushing(emptied(store), [message(1)] * 9_000)).duplicates == ("m1",) * 8_999
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_push_is_due_from_the_noted_wake_on(store):
    for scope in (HAROLD, T1):
        by_thread = scope is T1
        emptied(store)
        assert [push(store, n, thread_scope=by_thread).due for n in (1, 2)] == [(str(scope),)] * 2  # nobody has looked
        for tokens, due_now in ((79, False), (1, True), (500, True)):
            rest(store, scope)
            assert push(store, 3 + tokens, tokens=tokens).due == ((str(scope),) if due_now else ()), (scope, tokens)
            assert is_due(store, str(scope)) is due_now
    push(emptied(store), 1, tokens=0)
    rest(store, HAROLD)
    assert push(store, 2, tokens=0).due == ("harold",)  # what weighs nothing


def test_push_is_due_after_everything_was_sealed(store):
    for scope in (HAROLD, T1):
        by_thread = scope is T1
        push(emptied(store), 1, thread_scope=by_thread)
        push(store, 31, thread="t2", thread_scope=by_thread) if by_thread else None
        wakes(store, scope, 100)
        assert push(store, 2, thread_scope=by_thread).due == ()
        seal(store, "c1", 1, 2, scope=scope)
        assert push(store, 3, thread_scope=by_thread).due == (str(scope),)


def test_push_weighs_other_threads_for_a_resource_and_not_for_a_thread_with_a_wake_of_its_own(store):
    push(store, 1)
    push(store, 2, thread="t2", tokens=70)
    rest(store, HAROLD)
    assert [push(store, n).due for n in (3, 4)] == [(), ("harold",)]
    assert push(store, 5, thread_scope=True).due == ("harold",)  # what was noted counts, whatever the client believes
    rest(store, T1)
    assert push(store, 6).due == ()


def test_push_marks_the_scope_without_postponing_it_or_leaves_the_index_alone(store):
    store.run(due.mark(store.keys.due_observe, [HAROLD], urgent=True))
    before = store.client.zscore(store.keys.due_observe, "harold")
    push(store, 1)
    assert store.client.zscore(store.keys.due_observe, "harold") == before
    assert store.run(pushing(emptied(store), [message(1)], mark=False)).due == ("harold",)
    assert not is_due(store)


@pytest.mark.one_server
def test_push_asks_a_closed_part_only_when_something_is_due(store):
    push(store, 1)
    rest(store, HAROLD)
    store.client.set(store.keys.due_observe, "closed")
    assert push(store, 2).added == 1
    with nothing_changes(store), pytest.raises(StoreError, match="WRONGTYPE"):
        push(store, 3, tokens=500)


def test_push_of_one_message_leaves_what_a_push_of_pairs_leaves(store):
    """A message that comes alone takes a shorter way through the script, but where its bucket of ids is full."""
    of = store.keys.of("harold")
    push(store, 0)
    push(store, 0, thread="t2")
    wakes(store, HAROLD, 10_000)
    for n in range(1, 241, 2):
        assert [push(store, one).added for one in (n, n + 1)] == [1, 1]
        assert push(store, n, n + 1, thread="t2").added == 2
    assert store.client.hgetall(of.known("t1")) == store.client.hgetall(of.known("t2"))
    assert store.client.zcard(of.messages("t1")) == 241
    assert counts(store) == {"t1": 2410, "#t1": 241, "t2": 2410, "#t2": 241, "*": 4820, "*wake": 10_000}
    assert int(store.client.hget(of.known("t1"), "/")) == 6
    with nothing_changes(store):
        for n in (0, 57, 240):
            again = push(store, n)
            assert (again.added, again.duplicates, again.due) == (0, (f"m{n}",), ())


def test_push_of_one_message_keeps_to_what_is_asked_of_it(store):
    push(store, 1)
    rest(store, HAROLD)
    with nothing_changes(store):
        assert store.run(pushing(store, [message(3)], before=record_of(message(2)))).apart
    store.client.hdel(store.keys.of("harold").tokens, "*key")  # as an older version left it
    push(store, 9)
    assert store.client.hget(store.keys.of("harold").tokens, "*key")
    pace = PushPace(PushLimits(messages=1))
    assert store.run(pushing(store, [message(2)], pace=pace)).added == 1
    with pytest.raises(RateLimitedError):
        store.run(pushing(store, [message(3)], pace=pace))


def test_push_of_one_id_twice_at_once_adds_one(store):
    """Breaks when ids are checked before the script: time 0 both find the id new, time 1 and 2 both add it."""
    pushed = store.run(interrupted(pushing(store, [message(1, tokens=7)]), "push", lambda: push(store, 1)))
    assert pushed.duplicates == ("m1",)
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def history(store, before, *numbers):
    """A push of the end of a history, of which the messages `before` are known."""
    records = b"".join(record_of(message(n)) for n in before)
    return store.run(pushing(store, [message(n) for n in numbers], before=records))


def test_push_adds_the_end_of_a_history_that_goes_on_and_nothing_of_one_that_is_apart(store):
    history(store, [], 1, 2)
    other = structs.replace(message(1), content="something else")
    with nothing_changes(store):
        for before, numbers in (((1, 9), (3,)), ((1,), (3,)), ((), (3,)), ((), (1, 3))):
            pushed = history(store, before, *numbers)
            assert (pushed.apart, pushed.added) == (True, 0), (before, numbers)
        assert store.run(pushing(store, [message(3)], before=record_of(other) + record_of(message(2)))).apart
    assert history(store, [1, 2], 3).added == 1
    assert history(store, [1], 2, 3, 4).added == 1
    assert history(store, [1, 2, 3, 4], 5).added == 1
    assert store.run(pushing(store, [message(7)], before=WHATEVER)).added == 1
    assert history(store, [1, 7], 8).added == 1


def test_push_of_a_history_laid_beside_what_was_kept_is_apart_once_the_thread_went_on(store):
    nothing = WHATEVER + bytes(7)
    assert store.run(pushing(store, [message(1)], before=nothing)).added == 1
    with nothing_changes(store):
        assert store.run(pushing(store, [message(2)], before=nothing)).apart
    known = store.keys.of("harold").known("t1")
    for word in (WHATEVER, INSIDE):
        history(emptied(store), [], 1, 2)
        end = store.client.hget(known, "^")
        push(store, 3)
        with nothing_changes(store):
            assert store.run(pushing(store, [message(4)], before=word + end)).apart
        now = store.client.hget(known, "^")
        assert store.run(pushing(store, [message(4)], before=word + now)).added == 1
        assert (store.client.hget(known, "^") == now) is (word == INSIDE)


@pytest.mark.one_server
def test_push_refuses_a_count_of_messages_that_do_not_follow_before_it_writes(store):
    """Catches a script that trusts the count of one group, and writes the group before it."""
    of = store.keys.of("harold")
    names = [of.tokens, store.keys.due_observe]
    names += [f"{of.base}:{kind}:{thread}" for thread in ("t1", "t2") for kind in ("messages", "known")]
    one = [1, AT, b"{}", record_of(message(1)), 10]
    for count, left_out in (("3", 0), ("2", 1), ("2", 2), *((bad, 0) for bad in ("0", "1.5", "-1", "nan", "x", ""))):
        args = [1, "resource", "harold", "key", "t1", "harold|t1", "-", *one]
        args += ["t2", "harold|t2", "-", count, *one[1:], *one[1 : 5 - left_out]]
        with nothing_changes(store), pytest.raises(StoreError, match="a count of messages is not the number of those"):
            call(store, "push", names, args)


FIVE = PushPace(PushLimits(messages=5))


def limited(store, *numbers, pace=FIVE, **options):
    return store.run(pushing(store, [message(n) for n in numbers], pace=pace, **options))


def refused(store, *numbers, match=None, **options):
    """For how many seconds a push is refused; nothing is written."""
    with nothing_changes(store), pytest.raises(RateLimitedError, match=match) as caught:
        limited(store, *numbers, **options)
    assert caught.value.stored is False
    return caught.value.retry_after


def seconds_later(store, seconds):
    """As if time had passed since what is owed was noted."""
    store.client.hincrby(store.keys.of("harold").pace, "at", -round(seconds * 1000))


def test_push_is_limited_to_what_a_second_permits_and_pays_by_time(store):
    assert [limited(store, n).added for n in range(5)] == [1] * 5
    assert 0 < refused(store, 6, match="harold takes 5 messages a second") < 0.3
    seconds_later(store, 0.4)
    assert [limited(store, n).added for n in (5, 6)] == [1, 1]
    wait = refused(store, 7)
    seconds_later(store, -3_600)  # a clock that went back pays nothing and owes nothing more
    assert refused(store, 7) < wait + 0.3


def test_push_of_more_than_a_second_permits_is_taken_whole_and_owed_by_what_comes_next(store):
    assert limited(store, *range(50)).added == 50
    with nothing_changes(store):
        assert limited(store, *range(50)).added == 0  # what is known is never limited
    wait = refused(store, 50)
    assert 9 < wait <= 9.3
    assert refused(store, 50, pace=PushPace(PushLimits(messages=25))) <= 1.1  # a limit that is raised
    assert 9 <= store.client.ttl(store.keys.of("harold").pace) <= 11
    assert limited(store, *range(50, 60), pace=FIVE._replace(ahead_s=THE_REST_S)).added == 10  # a call that was begun
    limited(emptied(store), *range(17))
    seconds_later(store, refused(store, 17))
    assert limited(store, 17).added == 1


def test_push_limits_bytes_and_what_a_known_message_says_more(store):
    pace = PushPace(PushLimits(bytes=10))
    assert limited(store, 1, pace=pace).added == 1
    wait = refused(store, 2, pace=pace, match="10 bytes a second")
    assert len(member(1)) / 10 - 1.5 < wait <= len(member(1)) / 10
    limited(emptied(store), *range(5))
    grown = [structs.replace(message(0), content="turn 0 and more")]
    with nothing_changes(store), pytest.raises(RateLimitedError):
        store.run(pushing(store, grown, pace=FIVE))
    seconds_later(store, 1)
    assert [each.message.id for each, _ in store.run(pushing(store, grown, pace=FIVE)).other] == ["m0"]


def test_push_limits_each_pusher_and_all_of_them_by_the_resources(store):
    first, second = (PushPace(PushLimits(messages=4), Pusher(name, PushLimits(messages=2))) for name in ("k-1", "k-2"))
    assert [limited(store, n, pace=first).added for n in (1, 2)] == [1, 1]
    refused(store, 3, pace=first, match="this key may push 2 messages a second to harold")
    assert [limited(store, n, pace=second).added for n in (3, 4)] == [1, 1]
    refused(store, 5, pace=PushPace(PushLimits(messages=4)), match="harold takes 4")
    assert 1 <= store.client.ttl(store.keys.of("harold").pace_of("k-1")) <= 2


def test_push_is_not_kept_out_by_forged_debts_and_notes_none_where_nothing_is_limited(store):
    pace = store.keys.of("harold").pace
    limited(store, 0, pace=PushPace())
    assert not store.client.exists(pace)
    for n, forged in enumerate(("nan", "inf", "-5", "x", ""), 1):
        store.client.delete(pace)
        store.client.hset(pace, mapping={"messages": forged, "at": forged})
        assert limited(store, n).added == 1, forged


@pytest.mark.one_server
def test_push_keeps_and_does_not_acknowledge_what_no_replica_has(store):
    """Whoever repeats it adds nothing, and is told the same as long as that is so."""
    waits = replicas_of(store.keys, "harold", 1, 0.01)
    for _ in range(2):
        with pytest.raises(NotReplicatedError, match="1 replicas that should 0 had it after 10 ms") as caught:
            store.run(pushing(store, [message(1)], replicas=waits))
        assert caught.value.stored is None
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}
    assert 0 < store.client.pttl(waits.mark) <= 10_000
    assert replicas_of(Keys("p"), "harold", 0, 1.0) is None
