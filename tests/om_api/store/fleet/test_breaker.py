"""The breaker: opens after five failures, lets one probe through, asks less of who refuses, and late news decide nothing."""

import threading

import pytest

from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import load_all
from om_api.store.driver.steps import Verb
from om_api.store.fleet import breaker
from om_api.store.memory.keys import safe_name

MODEL = "some/model: 7B {fast}"
LEASE_S = 60


@pytest.fixture
def key(store):
    return store.keys.breaker(safe_name(MODEL))


@pytest.fixture
def holders(store):
    return store.keys.holders(safe_name(MODEL))


def call(token="t"):
    return breaker.Attempt(MODEL, token, LEASE_S)


def enter(store, token="t", most=None):
    return store.run(breaker.enter(store.keys, call(token), most))


def report(store, outcome, token="t", wait=0.0):
    store.run(breaker.report(store.keys, call(token), outcome, wait))


def reported(store, outcome):
    """The word with which the script itself answers a report."""
    name = safe_name(MODEL)
    keys = [store.keys.breaker(name), store.keys.holders(name)]
    return (yield from Verb("breaker_report", keys, ["t", LEASE_S * 1000, outcome, 0], bytes))


def state(store):
    return store.run(breaker.states(store.keys, [MODEL]))[MODEL]


def fail(store, times=5):
    for _ in range(times):
        report(store, "failed")


def in_threads(work):
    threads = [threading.Thread(target=work, args=[number]) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def let_the_pause_pass(store, key):
    store.client.hset(key, "until", 1)


def test_an_unknown_model_may_be_called(store):
    assert enter(store) == breaker.BreakerState("closed")
    assert state(store) == breaker.BreakerState("closed")


def test_four_failures_leave_it_closed_and_the_fifth_opens_it_for_30_seconds(store, key):
    fail(store, 4)
    # a call that begins in the first failure's own millisecond was in flight with it
    store.client.hincrby(key, "since", -1)
    assert enter(store).word == "closed"

    fail(store, 1)
    refused = enter(store)
    assert refused.word == "open"
    assert 29 <= refused.wait <= 30
    assert (state(store).word, state(store).failures) == ("open", 5)


def test_a_report_answers_how_the_breaker_stands_by_it(store, key):
    fail(store, 3)
    words = [store.run(reported(store, "failed")), store.run(reported(store, "failed"))]
    let_the_pause_pass(store, key)
    enter(store)

    assert words == [b"closed", b"open"]
    assert store.run(reported(store, "answered")) == b"closed"


def test_an_answer_in_between_begins_the_count_anew(store):
    fail(store, 4)
    report(store, "answered")
    fail(store, 4)

    assert enter(store).word == "closed"


def test_failures_of_another_minute_are_not_counted(store, key):
    fail(store, 4)
    store.client.hincrby(key, "since", -60_000)
    fail(store, 4)

    assert enter(store).word == "closed"


def test_failures_that_are_45_seconds_old_are_counted_with_the_next(store, key):
    fail(store, 4)
    store.client.hincrby(key, "since", -45_000)
    fail(store, 1)

    assert enter(store).word == "open"


@pytest.mark.parametrize("last", ["a failure", "an answer", "a probe"])
def test_a_breaker_is_remembered_for_a_day_after_what_was_said_last(store, key, last):
    fail(store)
    let_the_pause_pass(store, key)
    store.client.persist(key)
    {
        "a failure": fail,
        "an answer": lambda of: report(of, "answered"),
        "a probe": lambda of: enter(of, "probe"),
    }[last](store)

    assert store.client.pttl(key) == pytest.approx(86_400_000, abs=60_000)


def test_after_the_pause_exactly_one_is_let_through_until_it_has_said_how_it_went(store, key):
    fail(store)
    let_the_pause_pass(store, key)

    assert enter(store, "first").word == "probe"
    waits = enter(store, "second")
    assert waits.word == "open"
    assert 0 < waits.wait <= 5


def test_who_waits_for_a_probe_asks_again_within_five_seconds_however_long_its_lease_is(store, key):
    fail(store)
    let_the_pause_pass(store, key)

    assert enter(store, "probe") == breaker.BreakerState("probe")
    assert enter(store, "second") == breaker.BreakerState("open", 5)


def test_exactly_one_of_32_threads_is_the_probe(store, key):
    # breaks when the script does not look at `probing`
    fail(store)
    let_the_pause_pass(store, key)
    words, at_once = [], threading.Barrier(32)

    def try_to_enter(number):
        at_once.wait()
        words.append(Connection(store.client).run(breaker.enter(store.keys, call(f"t-{number}"))).word)

    in_threads(try_to_enter)
    assert sorted(words) == ["open"] * 31 + ["probe"]


@pytest.mark.parametrize("outcome", ["answered", "failed", "busy", "none"])
def test_who_is_no_probe_lets_no_second_one_through_by_a_late_word(store, key, outcome):
    """Breaks when anybody's report ends the probe's turn: calls that began before it opened would let others through."""
    fail(store)
    let_the_pause_pass(store, key)
    assert enter(store, "probe").word == "probe"
    report(store, outcome, "late")

    assert enter(store, "another").word in {"open", "busy"}


def test_a_probe_that_is_answered_closes_it(store, key):
    fail(store)
    let_the_pause_pass(store, key)
    enter(store, "probe")
    report(store, "answered", "probe")

    assert enter(store) == breaker.BreakerState("closed")
    assert state(store).failures == 0


def test_each_failed_probe_doubles_the_pause_up_to_ten_minutes(store, key):
    fail(store)
    pauses = []
    for _ in range(6):
        let_the_pause_pass(store, key)
        enter(store, "probe")
        report(store, "failed", "probe")
        pauses.append(round(state(store).wait))

    assert pauses == [60, 120, 240, 480, 600, 600]


def test_a_probe_that_waited_in_vain_doubles_the_pause_as_well(store, key):
    fail(store)
    let_the_pause_pass(store, key)
    enter(store, "probe")
    report(store, "late", "probe")

    assert (store.client.hget(key, "times"), round(state(store).wait)) == (b"2", 60)


def test_a_probe_whose_worker_died_does_not_close_the_door_for_ever(store, key):
    fail(store)
    let_the_pause_pass(store, key)
    enter(store, "dead")
    store.client.hset(key, "probing", 1)

    assert enter(store, "next").word == "probe"


def test_a_probe_that_was_not_made_after_all_leaves_its_place_to_the_next(store, key):
    fail(store)
    let_the_pause_pass(store, key)
    enter(store, "first")
    report(store, "none", "first")

    assert enter(store, "second").word == "probe"


@pytest.mark.parametrize("outcome", ["answered", "failed"])
def test_a_call_that_began_before_it_opened_changes_nothing(store, key, outcome):
    fail(store)
    before = store.client.hgetall(key)
    report(store, outcome, "late")

    assert store.client.hgetall(key) == before


def test_a_provider_that_refuses_everything_gets_its_pause_from_everybody_and_no_failure_is_counted(store):
    refuse_everything(store)

    refused = enter(store, "another")
    assert refused.word == "busy"
    assert 89 <= refused.wait <= 90
    assert state(store).failures == 0


def test_a_shorter_pause_does_not_end_a_longer_one(store):
    refuse_everything(store)
    report(store, "busy", wait=1)

    assert enter(store).wait > 80


def test_an_answer_to_somebody_else_does_not_end_a_pause(store):
    refuse_everything(store)
    report(store, "answered")

    assert enter(store).word == "busy"


def test_after_the_pause_that_was_asked_for_one_call_at_a_time_is_made_until_they_are_answered(store, key):
    refuse_everything(store)
    store.client.hset(key, "busy", 1)

    assert words(store, "abc") == ["closed", "full", "full"]
    answer(store, "a")
    assert words(store, "abc") == ["closed", "full", "full"]
    for _ in range(3):
        answer(store, "a")
        enter(store, "a")
    assert words(store, "abc") == ["closed", "closed", "full"]


def test_names_that_look_alike_in_keys_have_breakers_of_their_own(store):
    names = ["a/b", "a:b", "a b", "a{b", "a_b"]

    assert len({store.keys.breaker(safe_name(name)) for name in names}) == len(names)
    assert not any(set("{} /") & set(safe_name(name)) for name in names)


def test_a_server_whose_clock_was_set_back_leaves_no_model_alone_for_ever(store, key):
    in_a_year = 1_000 * (store.client.time()[0] + 365 * 86_400)
    store.client.hset(key, mapping={"busy": in_a_year, "until": in_a_year, "times": 1})

    assert state(store)[:2] == ("open", 0)
    assert enter(store).word == "probe"
    report(store, "none")
    refuse_everything(store, 20)
    assert 19 <= enter(store).wait <= 20


@pytest.mark.parametrize("field", ["busy", "until"])
@pytest.mark.parametrize(("minutes", "obeyed"), [(9, True), (11, False)])
def test_a_pause_of_ten_minutes_is_obeyed_and_a_longer_one_is_none(store, key, field, minutes, obeyed):
    """Catches a bound that would end the longest pause early, or begin it anew with a clock that was set back."""
    now = 1_000 * store.client.time()[0]
    store.client.hset(key, field, now + minutes * 60_000)
    store.client.expire(key, 60)

    assert (enter(store).wait > 0) is obeyed


# -- what is refused because it is too much


def words(store, tokens, most=None):
    return [enter(store, token, most).word for token in tokens]


def answer(store, tokens):
    for token in tokens:
        report(store, "answered", token)


def refuse(store, tokens, wait=40):
    for token in tokens:
        report(store, "busy", token, wait)


def refuse_everything(store, wait=90):
    """Two calls, one after the other: less than one at a time cannot be made."""
    refuse(store, "12", wait)


def later(store, holders):
    """Have all calls in flight, and the cut, be a second older."""
    for token, score in store.client.zscan_iter(holders):
        store.client.zadd(holders, {token: score - 1000})
    store.client.hincrby(store.keys.breaker(safe_name(MODEL)), "cut", -1000)


def room(store):
    return float(store.client.hget(store.keys.breaker(safe_name(MODEL)), "room"))


def test_one_refusal_halves_what_is_in_flight_and_holds_up_nobody_else(store):
    """What it was before: everybody waited for the 40 seconds."""
    words(store, "abcdefgh")
    refuse(store, "a")

    assert state(store) == breaker.BreakerState("held", room=4)
    answer(store, "bcde")
    assert words(store, "ijkl") == ["closed", "closed", "full", "full"]


def test_calls_that_began_before_it_was_halved_do_not_halve_it_again(store):
    """Catches a burst of which half is refused, one by one between answers, that leaves room for nobody."""
    words(store, "abcdefgh")
    for refused, answered in ("ab", "cd", "ef", "gh"):
        refuse(store, refused)
        answer(store, answered)

    assert room(store) == 5.5  # half of nine, and a quarter for each answer


@pytest.mark.one_server
def test_two_refusals_of_one_millisecond_halve_it_once(store, key, holders):
    words(store, "abcdefgh")
    with store.client.pipeline(transaction=True) as at_once:
        for token in "ab":
            at_once.eval(load_all()["breaker_report"].source, 2, key, holders, token, LEASE_S * 1000, "busy", 40)
        at_once.execute()
    refuse(store, "c")

    assert room(store) == 4.5  # half of nine


@pytest.mark.parametrize(("ms", "share"), [(0, 1), (1, 0.5)])
def test_only_a_call_that_began_afterwards_halves_it_again(store, key, holders, ms, share):
    words(store, "abcdefgh")
    refuse(store, "a")
    answer(store, "bcdefgh")
    later(store, holders)
    before = room(store)
    enter(store, "i")
    store.client.zadd(holders, {"i": int(store.client.hget(key, "cut")) + ms + LEASE_S * 1000})
    refuse(store, "i")

    assert room(store) == before * share
    assert state(store).word == "held"


def test_while_nothing_is_answered_there_is_room_only_for_who_was_not_refused_yet(store):
    words(store, "abcdefgh")
    refuse(store, "abcdef")

    assert room(store) == 2
    assert enter(store, "i").word == "full"
    refuse(store, "gh")
    refused = enter(store, "i")
    assert refused.word == "busy"
    assert 39 <= refused.wait <= 40


def test_the_last_of_a_burst_that_is_refused_after_others_were_answered_stops_nobody(store):
    words(store, "abcd")
    refuse(store, "a")
    answer(store, "bc")
    refuse(store, "d")

    assert enter(store).word == "closed"


def test_room_grows_by_a_call_an_answer_up_to_the_half_and_slowly_from_there(store, holders):
    words(store, "abcdefgh")
    refuse(store, "abcdefgh")
    grown = [room(store)]
    for _ in range(6):
        answer(store, "x")
        grown.append(room(store))

    assert grown == [1, 2, 3, 4, 5, 5.25, 5.5]


def test_a_refusal_that_is_ten_minutes_old_holds_nobody_back(store, key):
    words(store, "abcd")
    refuse(store, "abcd")
    store.client.hincrby(key, "cut", -600_001)
    assert state(store).room == 0
    answer(store, "x")

    assert store.client.hmget(key, "room", "half", "cut") == [None] * 3


def test_a_server_whose_clock_was_set_back_forgets_what_was_refused_in_the_future(store, key):
    words(store, "abcd")
    refuse(store, "a")
    store.client.hincrby(key, "cut", 10**9)
    assert state(store).word == "closed"
    refuse(store, "b")

    assert state(store).word == "held"


def test_an_answer_forgets_what_was_refused_in_the_future(store, key):
    """Catches a room that stays for ever: nobody halves it again before the clock has come to where it was."""
    words(store, "abcd")
    refuse(store, "a")
    store.client.hincrby(key, "cut", 10**9)
    answer(store, "b")

    assert store.client.hmget(key, "room", "half", "cut") == [None] * 3


# -- what breaks at once


def test_what_breaks_all_calls_in_flight_at_once_does_not_open_it_but_the_next_one_that_fails_does(store, key):
    """Catches a connection that was shared: the model is well, and nobody would ask it for half a minute."""
    words(store, "abcdefgh")
    for token in "abcdefgh":
        report(store, "failed", token)
    assert enter(store).word == "closed"
    store.client.hincrby(key, "since", -1000)
    report(store, "failed")

    assert enter(store).word == "open"


def test_a_call_that_began_in_the_first_failures_own_millisecond_was_in_flight_with_it(store, key, holders):
    words(store, "abcde")
    for token in "abcd":
        report(store, "failed", token)
    store.client.hset(key, "since", int(store.client.zscore(holders, "e")) - LEASE_S * 1000)
    report(store, "failed", "e")

    assert enter(store).word == "closed"


def test_calls_that_waited_in_vain_open_it_though_they_began_together(store):
    words(store, "abcde")
    for token in "abcde":
        report(store, "late", token)

    assert enter(store).word == "open"


# -- places


def test_there_are_no_more_places_than_most(store):
    assert words(store, "abc", 2) == ["closed", "closed", "full"]
    assert enter(store, "d", 2) == breaker.BreakerState("full")


def test_places_are_remembered_no_longer_than_the_longest_lease(store, holders):
    enter(store)

    assert store.client.pttl(holders) == pytest.approx(LEASE_S * 1000, abs=5_000)


@pytest.mark.parametrize("outcome", ["answered", "failed", "late", "none"])
def test_a_place_is_given_back_however_the_call_ended_and_taken_by_the_next(store, outcome):
    words(store, "ab", 2)
    report(store, outcome, "a")

    assert words(store, "cd", 2) == ["closed", "full"]


def test_who_has_one_of_the_last_places_and_asks_again_keeps_it_and_no_other(store, holders):
    """Catches a repeat after a lost reply that is refused: its place would be taken, and nobody would call."""
    assert words(store, "abaa", 2) == ["closed"] * 4
    assert store.client.zcard(holders) == 2
    assert words(store, "c", 2) == ["full"]


def test_the_place_of_a_worker_that_died_is_free_when_its_lease_has_ended(store, holders):
    words(store, ["dead", "alive"], 2)
    store.client.zadd(holders, {"dead": 1})

    assert words(store, "c", 2) == ["closed"]
    assert store.client.zrange(holders, 0, -1) == [b"alive", b"c"]


def test_a_shorter_lease_does_not_end_the_key_of_a_longer_one(store, holders):
    enter(store, "long")
    store.run(breaker.enter(store.keys, call("short")._replace(lease_s=1)))

    assert store.client.ttl(holders) > 50


def test_exactly_as_many_of_32_threads_as_there_are_places_get_one(store):
    # breaks when the script does not count
    got, at_once = [], threading.Barrier(32)

    def take(number):
        at_once.wait()
        got.append(Connection(store.client).run(breaker.enter(store.keys, call(f"t-{number}"), 7)).word)

    in_threads(take)
    assert got.count("closed") == 7


def test_no_place_is_taken_while_it_is_open(store, key, holders):
    fail(store)
    enter(store)

    assert store.client.zcard(holders) == 0
