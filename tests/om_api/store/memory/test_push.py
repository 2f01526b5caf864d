"""push: accepted once, counted exactly, due when somebody must look."""

import time

import pytest
import redis
from msgspec import structs
from scene import (
    AT,
    HAROLD,
    adopt,
    call,
    interrupted,
    member,
    message,
    nothing_changes,
    push,
    pushing,
    seal,
    write_plainly,
)
from stores import Store

from om_api.domain.errors import NotReplicatedError, RateLimitedError, StoreError
from om_api.domain.identity import KnownId, record_of
from om_api.domain.messages import Message
from om_api.domain.push_limits import THE_REST_S, Pusher, PushLimits, PushPace
from om_api.domain.values import Scope
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.store.memory import due, note, scope_state
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import INSIDE, WHATEVER, ServerClock, replicas_of
from om_api.store.memory.push import push as push_batch

T1 = Scope("harold", "t1")


def counts(store):
    found = store.client.hgetall(store.keys.of("harold").tokens)
    return {name.decode(): int(n) for name, n in found.items() if name not in {b"*key", b"*ids"}}


def is_due(store, scope="harold"):
    return store.client.zscore(store.keys.due_observe, scope) is not None


def rest(store, scope):
    """As after a look that found nothing to do: due from 100 tokens on."""
    store.run(note.note(store.keys, scope, "", note.Decided("", scope_state.wake_field(scope), 100)))
    store.client.delete(store.keys.due_observe)


def adopted(store, *numbers):
    """As a writer who knows no script leaves them, counted by the sweep."""
    write_plainly(store, *(member(n) for n in numbers))
    return store.run(adopt(store))


def test_a_push_counts_what_it_added(store):
    pushed = push(store, 1, 2)

    assert (pushed.added, pushed.duplicates) == (2, ())
    assert counts(store) == {"t1": 20, "#t1": 2, "*": 20}
    assert store.client.zrange(store.keys.of("harold").messages("t1"), 0, -1) == [member(1), member(2)]


def test_a_repeated_push_changes_nothing_and_says_which_were_there(store):
    push(store, 1, 2)
    with nothing_changes(store):
        repeated = push(store, 1, 2)

    assert (repeated.added, repeated.duplicates) == (0, ("m1", "m2"))


def test_a_repeated_push_says_due_again(store):
    """Breaks when only a push that adds says due: time 0 it adds, time 1 its reply and mark are lost, time 2 it is repeated."""
    push(store, 1)
    store.client.delete(store.keys.due_observe)

    assert push(store, 1).due == ("harold",)
    assert is_due(store)


def test_an_id_accepted_before_is_a_duplicate_whatever_it_says(store):
    push(store, 1)

    assert push(store, 1, tokens=99).duplicates == ("m1",)
    assert counts(store)["*"] == 10


def test_an_id_twice_in_one_push_is_added_once(store):
    twice = [message(1), message(1, tokens=7), message(2)]
    pushed = store.run(pushing(store, twice))

    assert (pushed.added, pushed.duplicates) == (2, ("m1",))
    assert counts(store) == {"t1": 20, "#t1": 2, "*": 20}


@pytest.mark.parametrize("thread_scope", [False, True])
def test_an_id_is_remembered_after_its_message_was_sealed(store, thread_scope):
    """Nothing is unsealed: there is no counter to write and nobody who must look."""
    seal(store, "c1", 1)
    store.client.delete(store.keys.due_observe)
    with nothing_changes(store):
        pushed = push(store, 1, thread_scope=thread_scope)

    assert (pushed.duplicates, pushed.due) == (("m1",), ())


def test_one_id_in_two_threads_is_two_messages(store):
    push(store, 1)

    assert push(store, 1, thread="t2").added == 1
    assert counts(store) == {"t1": 10, "#t1": 1, "t2": 10, "#t2": 1, "*": 20}


def test_a_push_of_more_than_a_slice_is_added_whole(store):
    assert push(store, *range(2_500)).added == 2_500
    assert counts(store) == {"t1": 25_000, "#t1": 2_500, "*": 25_000}


def test_every_message_of_more_than_a_slice_is_remembered_and_known_again(store):
    """Catches a part that is left out where they are asked after, or noted, by the thousand."""
    push(store, *range(4_100))
    of = store.keys.of("harold")
    store.client.unlink(of.messages("t1"))  # by their ids alone
    assert push(store, *range(4_100)).duplicates == tuple(f"m{n}" for n in range(4_100))
    assert store.client.exists(of.messages("t1")) == 0


def test_every_duplicate_is_said_also_of_more_than_lua_can_unpack(store):
    """Catches a reply that is cut: what was not said to be a duplicate would count as added."""
    many = store.run(pushing(store, [message(1)] * 9_000))

    assert many.duplicates == ("m1",) * 8_999
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_a_duplicate_is_named_whatever_thread_it_is_in(store):
    push(store, 2, thread="t2")
    mixed = [message(1), message(3, "t2"), message(2, "t2")]

    assert store.run(pushing(store, mixed)).duplicates == ("m2",)


@pytest.mark.one_server
def test_a_resource_that_is_called_clock_is_no_word_of_the_script(store):
    """Before: what was due by its name was read as the server's clock, and what was kept was said not to be."""
    said = Message(id="m1", role="user", content="hello", thread_id="t1", resource_id="clock", tokens=10, at=AT)
    pushed = store.run(push_batch(store.keys, store.clock, "clock", [EncodedMessage(said, encode_message(said))]))

    assert (pushed.added, pushed.due) == (1, ("clock",))


def test_a_writer_with_a_wrong_clock_learns_the_servers(store):
    store.clock.offset_ms = -86_400_000

    assert push(store, 1).added == 1
    assert abs(store.clock.offset_ms) < 5_000


def test_the_first_push_is_due_and_marks_its_scope(store):
    assert push(store, 1).due == ("harold",)
    assert is_due(store)


@pytest.mark.parametrize("scope", [HAROLD, T1])
@pytest.mark.parametrize(("tokens", "due_now"), [(89, False), (90, True), (500, True)])
def test_a_push_is_due_from_the_noted_wake_on(store, scope, tokens, due_now):
    push(store, 1)
    rest(store, scope)

    assert push(store, 2, tokens=tokens).due == ((str(scope),) if due_now else ())
    assert is_due(store, str(scope)) is due_now


@pytest.mark.parametrize(("scope", "field"), [(HAROLD, "*wake"), (T1, "*wake:t1")])
def test_a_push_after_everything_was_sealed_is_due(store, scope, field):
    by_thread = scope is T1
    push(store, 1, thread_scope=by_thread)
    store.run(note.note(store.keys, scope, "", note.Decided("", field, 100)))
    assert push(store, 2, thread_scope=by_thread).due == ()

    seal(store, "c1", 1, 2, scope=scope)
    assert push(store, 3, thread_scope=by_thread).due == (str(scope),)


@pytest.mark.parametrize("thread_scope", [False, True])
def test_until_a_worker_has_looked_every_push_is_due(store, thread_scope):
    due_now = ("harold|t1",) if thread_scope else ("harold",)

    assert [push(store, n, thread_scope=thread_scope).due for n in (1, 2)] == [due_now, due_now]


def test_who_is_due_is_said_by_what_workers_noted_whatever_the_client_believes(store):
    push(store, 1)
    store.run(note.note(store.keys, T1, "", note.Decided("", "*wake:t1", 100)))
    assert push(store, 2, tokens=500).due == ("harold|t1",)

    push(store, 31, thread="t2")
    store.run(note.note(store.keys, HAROLD, "", note.Decided("", "*wake", 100)))
    assert push(store, 32, thread="t2", tokens=500, thread_scope=True).due == ("harold",)


def test_in_thread_scope_each_thread_is_due_by_itself(store):
    push(store, 1, thread_scope=True)
    store.run(note.note(store.keys, Scope("harold", "t1"), "", note.Decided("", "*wake:t1", 100)))

    assert push(store, 2, thread_scope=True).due == ()
    assert push(store, 3, thread="t2", thread_scope=True).due == ("harold|t2",)


def test_messages_that_come_alone_leave_what_those_that_come_in_pairs_leave(store):
    """A message that comes alone takes a shorter way through the script, but where its bucket of ids is full."""
    of = store.keys.of("harold")
    push(store, 0)
    push(store, 0, thread="t2")
    store.run(note.note(store.keys, HAROLD, "", note.Decided("", "*wake", 10_000)))
    for n in range(1, 241, 2):
        assert [push(store, one).added for one in (n, n + 1)] == [1, 1]
        assert push(store, n, n + 1, thread="t2").added == 2

    assert store.client.hgetall(of.known("t1")) == store.client.hgetall(of.known("t2"))
    assert store.client.zcard(of.messages("t1")) == 241
    assert counts(store) == {"t1": 2410, "#t1": 241, "t2": 2410, "#t2": 241, "*": 4820, "*wake": 10_000}
    assert int(store.client.hget(of.known("t1"), "/")) == 6


def test_a_message_that_comes_alone_again_is_a_duplicate_however_far_the_thread_is_from_being_due(store):
    push(store, *range(100))
    store.run(note.note(store.keys, HAROLD, "", note.Decided("", "*wake", 10_000)))
    push(store, 100)

    with nothing_changes(store):
        for n in (0, 57, 100):
            again = push(store, n)
            assert (again.added, again.duplicates, again.due) == (0, (f"m{n}",), ())


def test_what_makes_nothing_due_asks_nothing_of_a_part_that_was_closed_and_what_does_is_refused(store):
    push(store, 1)
    rest(store, HAROLD)
    if isinstance(store.client, redis.RedisCluster):
        pytest.skip("there a push marks nothing")
    store.client.set(store.keys.due_observe, "closed")
    assert push(store, 2).added == 1

    with nothing_changes(store), pytest.raises(StoreError, match="WRONGTYPE"):
        push(store, 3, tokens=500)


def test_what_another_thread_weighs_makes_a_resource_due_and_no_thread_that_has_a_wake_of_its_own(store):
    push(store, 1)
    push(store, 2, thread="t2", tokens=70)
    rest(store, HAROLD)
    assert push(store, 3).due == ()
    assert push(store, 4).due == ("harold",)

    rest(store, T1)
    assert push(store, 5).due == ()


def test_a_thread_of_which_everything_was_sealed_is_due_although_another_is_not(store):
    push(store, 1, thread_scope=True)
    push(store, 2, thread="t2", thread_scope=True)
    rest(store, T1)
    seal(store, "c1", 1, scope=T1)

    assert push(store, 3, thread_scope=True).due == ("harold|t1",)


def test_messages_that_weigh_nothing_are_due(store):
    push(store, 1, tokens=0)
    rest(store, HAROLD)

    assert push(store, 2, tokens=0).due == ("harold",)


def test_a_message_that_comes_alone_keeps_to_what_is_asked_of_it(store):
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


def test_a_mark_never_postpones(store):
    store.run(due.mark(store.keys.due_observe, [HAROLD], urgent=True))
    before = store.client.zscore(store.keys.due_observe, "harold")
    push(store, 1)

    assert store.client.zscore(store.keys.due_observe, "harold") == before


def test_without_marking_the_index_is_left_alone(store):
    pushed = store.run(pushing(store, [message(1)], mark=False))

    assert pushed.due == ("harold",)
    assert not is_due(store)


def test_a_plain_member_pushed_again_is_counted_once(store):
    """Breaks when one of both counts it again: time 0 a plain ZADD, time 1 the same bytes are pushed, time 2 both are adopted."""
    write_plainly(store, member(1))
    assert push(store, 1).added == 1

    assert store.run(adopt(store)).kept == 1
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


def test_two_pushes_of_one_id_at_once_add_one(store):
    """Breaks when ids are checked before the script: time 0 both find the id new, time 1 and 2 both add it."""
    steps = pushing(store, [message(1, tokens=7)])
    pushed = store.run(interrupted(steps, "push", lambda: push(store, 1)))

    assert pushed.duplicates == ("m1",)
    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}


@pytest.mark.parametrize("accept", [push, adopted])
def test_what_is_known_of_ids_never_runs_out_by_itself(store, accept):
    accept(store, 1)

    assert store.client.ttl(store.keys.of("harold").known("t1")) == -1


def test_what_an_id_says_otherwise_is_told_with_what_is_known_of_it(store):
    push(store, 1)
    other = message(1)
    other.content = "something else"
    pushed = store.run(pushing(store, [message(1), other]))

    assert (pushed.added, pushed.duplicates) == (0, ("m1",))
    ((each, known),) = pushed.other
    assert (each.message.content, known) == ("something else", KnownId.of(record_of(message(1))))


def test_the_first_message_of_a_resource_says_that_all_its_ids_are_known(store):
    """Breaks when it is said later: what an older version accepted before may not be known."""
    of = store.keys.of("harold")
    push(store, 1)
    assert store.client.hget(of.tokens, "*ids") == b"1"

    store.client.hdel(of.tokens, "*ids")
    push(store, 2, thread="t2")
    assert store.client.hget(of.tokens, "*ids") is None


def history(store, before, *numbers):
    """A push of the end of a history, of which the messages `before` are known."""
    records = b"".join(record_of(message(n)) for n in before)
    return store.run(pushing(store, [message(n) for n in numbers], before=records))


def test_the_end_of_a_history_that_goes_on_is_added(store):
    assert history(store, [], 1, 2).added == 2
    assert history(store, [1, 2], 3).added == 1
    assert history(store, [1], 2, 3, 4).added == 1
    assert history(store, [1, 2, 3, 4], 5).added == 1


@pytest.mark.parametrize(
    ("before", "numbers"),
    [((1, 9), (3,)), ((1,), (3,)), ((), (3,)), ((), (1, 3))],
    ids=["one is not known", "another followed the last", "others were before", "another followed the first"],
)
def test_a_history_that_is_apart_adds_nothing(store, before, numbers):
    history(store, [], 1, 2)
    with nothing_changes(store):
        pushed = history(store, before, *numbers)

    assert (pushed.apart, pushed.added) == (True, 0)


def test_a_history_of_which_a_message_says_otherwise_is_apart(store):
    history(store, [], 1, 2)
    other = message(1)
    other.content = "something else"
    records = record_of(other) + record_of(message(2))

    assert store.run(pushing(store, [message(3)], before=records)).apart


def test_a_history_may_be_said_to_end_here_whatever_was_before(store):
    history(store, [], 1, 2)
    assert store.run(pushing(store, [message(3)], before=WHATEVER)).added == 1

    assert history(store, [1, 3], 4).added == 1


def test_a_history_laid_beside_nothing_is_apart_once_somebody_began(store):
    nothing = WHATEVER + bytes(7)
    assert store.run(pushing(store, [message(1)], before=nothing)).added == 1
    with nothing_changes(store):
        assert store.run(pushing(store, [message(2)], before=nothing)).apart


@pytest.mark.parametrize("word", [WHATEVER, INSIDE])
def test_a_history_laid_beside_what_was_kept_is_apart_once_the_thread_went_on(store, word):
    history(store, [], 1, 2)
    of = store.keys.of("harold")
    end = store.client.hget(of.known("t1"), "^")
    push(store, 3)
    with nothing_changes(store):
        assert store.run(pushing(store, [message(4)], before=word + end)).apart
    now = store.client.hget(of.known("t1"), "^")

    assert store.run(pushing(store, [message(4)], before=word + now)).added == 1
    assert (store.client.hget(of.known("t1"), "^") == now) is (word == INSIDE)


@pytest.mark.one_server
@pytest.mark.parametrize(
    ("count", "left_out"),
    [("3", 0), ("2", 1), ("2", 2), ("0", 0), ("1.5", 0), ("-1", 0), ("nan", 0), ("x", 0), ("", 0)],
)
def test_a_count_of_messages_that_do_not_follow_is_refused_and_nothing_is_written(store, count, left_out):
    """Catches a script that trusts the count of one group, and writes the group before it."""
    of = store.keys.of("harold")
    names = [of.tokens, store.keys.due_observe]
    names += [f"{of.base}:{kind}:{thread}" for thread in ("t1", "t2") for kind in ("messages", "known")]
    one = [1, AT, b"{}", record_of(message(1)), 10]
    args = [1, "resource", "harold", "key", "t1", "harold|t1", "-", *one]
    args += ["t2", "harold|t2", "-", count, *one[1:], *one[1 : 5 - left_out]]

    with nothing_changes(store), pytest.raises(StoreError, match="a count of messages is not the number of those that"):
        call(store, "push", names, args)


def test_what_was_seen_of_the_servers_clock_is_believed_from_then_on():
    clock, ahead = ServerClock(), 1_800_000
    clock.seen(int(time.time() * 1000) + ahead)

    assert abs(clock.ms() - ahead - time.time() * 1000) < 1_000


# -- limits -----------------------------------------------------------------------------------------------------------

FIVE = PushPace(PushLimits(messages=5))


def limited(store, *numbers, pace=FIVE, **options):
    return store.run(pushing(store, [message(n) for n in numbers], pace=pace, **options))


def seconds_later(store, seconds, key=None):
    """As if time had passed since what is owed was noted."""
    of = store.keys.of("harold")
    store.client.hincrby(key or of.pace, "at", -round(seconds * 1000))


def test_as_many_as_a_second_permits_are_taken_at_once_and_the_next_one_later(store):
    added = [limited(store, n).added for n in range(5)]
    with nothing_changes(store), pytest.raises(RateLimitedError, match="harold takes 5 messages a second") as refused:
        limited(store, 6)

    assert added == [1] * 5
    assert refused.value.stored is False
    assert 0 < refused.value.retry_after < 0.3


def test_what_is_owed_is_paid_by_time(store):
    for n in range(5):
        limited(store, n)
    seconds_later(store, 0.4)

    assert [limited(store, n).added for n in (5, 6)] == [1, 1]
    with pytest.raises(RateLimitedError):
        limited(store, 7)


def test_a_batch_of_more_than_a_second_permits_is_taken_whole_and_owed_by_what_comes_next(store):
    assert limited(store, *range(50)).added == 50

    with pytest.raises(RateLimitedError) as refused:
        limited(store, 50)
    assert 9 < refused.value.retry_after <= 9.3
    seconds_later(store, 9.3)
    assert limited(store, 50).added == 1


def test_whoever_waits_as_long_as_was_said_is_taken(store):
    limited(store, *range(17))
    with pytest.raises(RateLimitedError) as refused:
        limited(store, 17)

    seconds_later(store, refused.value.retry_after)
    assert limited(store, 17).added == 1


def test_bytes_are_limited_as_messages_are(store):
    pace = PushPace(PushLimits(bytes=10))
    assert limited(store, 1, pace=pace).added == 1

    with pytest.raises(RateLimitedError, match="10 bytes a second") as refused:
        limited(store, 2, pace=pace)
    assert len(member(1)) / 10 - 1.5 < refused.value.retry_after <= len(member(1)) / 10


def test_a_history_that_is_known_is_never_limited(store):
    limited(store, *range(40))

    for _ in range(3):
        assert limited(store, *range(40)).added == 0


def test_what_a_known_message_says_more_is_limited(store):
    limited(store, *range(5))
    grown = [structs.replace(message(0), content="turn 0 and more")]
    with nothing_changes(store), pytest.raises(RateLimitedError):
        store.run(pushing(store, grown, pace=FIVE))

    seconds_later(store, 1)
    assert [each.message.id for each, _ in store.run(pushing(store, grown, pace=FIVE)).other] == ["m0"]


def test_a_call_that_was_begun_goes_on(store):
    limited(store, *range(50))

    assert limited(store, *range(50, 60), pace=FIVE._replace(ahead_s=THE_REST_S)).added == 10


def test_each_pusher_has_limits_of_its_own_and_all_share_the_resources(store):
    first, second = (PushPace(PushLimits(messages=4), Pusher(name, PushLimits(messages=2))) for name in ("k-1", "k-2"))
    assert [limited(store, n, pace=first).added for n in (1, 2)] == [1, 1]
    with pytest.raises(RateLimitedError, match="this key may push 2 messages a second to harold"):
        limited(store, 3, pace=first)

    assert [limited(store, n, pace=second).added for n in (3, 4)] == [1, 1]
    with pytest.raises(RateLimitedError, match="harold takes 4"):
        limited(store, 5, pace=PushPace(PushLimits(messages=4)))


def test_a_limit_that_is_raised_is_in_force_for_what_is_owed_too(store):
    limited(store, *range(50))

    with pytest.raises(RateLimitedError) as refused:
        limited(store, 50, pace=PushPace(PushLimits(messages=25)))
    assert refused.value.retry_after <= 1.1


def test_what_is_owed_is_forgotten_when_it_is_paid(store):
    limited(store, *range(50), pace=FIVE._replace(pusher=Pusher("k-1", PushLimits(messages=50))))

    of = store.keys.of("harold")
    assert 9 <= store.client.ttl(of.pace) <= 11
    assert 1 <= store.client.ttl(of.pace_of("k-1")) <= 2


def test_where_nothing_is_limited_nothing_is_owed(store):
    limited(store, 1, pace=PushPace())

    assert not store.client.exists(store.keys.of("harold").pace)


@pytest.mark.parametrize("forged", ["nan", "inf", "-5", "x", ""])
def test_what_somebody_wrote_as_owed_keeps_nobody_out(store, forged):
    store.client.hset(store.keys.of("harold").pace, mapping={"messages": forged, "at": forged})

    assert limited(store, 1).added == 1


def test_a_clock_that_went_back_pays_nothing_and_owes_nothing_more(store):
    limited(store, *range(5))
    seconds_later(store, -3_600)

    with pytest.raises(RateLimitedError) as refused:
        limited(store, 6)
    assert refused.value.retry_after < 0.3


def test_what_no_replica_has_is_kept_and_not_acknowledged(server_client, prefix):
    """Whoever repeats it adds nothing, and is told the same as long as that is so."""
    store = Store(Keys(prefix), ServerClock(), server_client)
    waits = replicas_of(store.keys, "harold", 1, 0.01)
    for _ in range(2):
        with pytest.raises(NotReplicatedError, match="1 replicas that should 0 had it after 10 ms") as refused:
            store.run(pushing(store, [message(1)], replicas=waits))
        assert refused.value.stored is None

    assert counts(store) == {"t1": 10, "#t1": 1, "*": 10}
    assert 0 < store.client.pttl(waits.mark) <= 10_000


def test_nothing_is_waited_for_unless_replicas_are_asked_for():
    assert replicas_of(Keys("p"), "harold", 0, 1.0) is None
    assert replicas_of(Keys("p"), "harold", 2, 1.5) == (2, 1_500, "p:{harold}:lock:replicated")
