"""The breaker: opens after five failures, lets one probe through, and nobody who comes late decides anything."""

from __future__ import annotations

import threading

import pytest

from om_api.store import breaker
from om_api.store.connection import Connection
from om_api.store.keys import safe_name
from om_api.store.steps import Verb

MODEL = "some/model: 7B {fast}"
LEASE_S = 60


@pytest.fixture
def key(store):
    return store.keys.breaker(safe_name(MODEL))


def enter(store, token="t"):
    return store.run(breaker.enter(store.keys, MODEL, token, LEASE_S))


def report(store, outcome, token="t", wait=0.0):
    store.run(breaker.report(store.keys, MODEL, token, outcome, wait))


def reported(store, outcome):
    """The word with which the script itself answers a report."""
    return (yield Verb("breaker_report", [store.keys.breaker(safe_name(MODEL))], ["t", outcome, 0]))


def state(store):
    return store.run(breaker.states(store.keys, [MODEL]))[MODEL]


def fail(store, times=5):
    for _ in range(times):
        report(store, "failed")


def let_the_pause_pass(store, key):
    store.client.hset(key, "until", 1)


def test_an_unknown_model_may_be_called(store):
    assert enter(store) == breaker.State("closed")
    assert state(store) == breaker.State("closed")


def test_four_failures_leave_it_closed_and_the_fifth_opens_it_for_30_seconds(store):
    fail(store, 4)
    assert enter(store).word == "closed"

    fail(store, 1)
    refused = enter(store)
    assert refused.word == "open"
    assert 29 <= refused.wait <= 30
    assert (state(store).word, state(store).failures, state(store).times) == ("open", 5, 1)


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


def test_after_the_pause_exactly_one_is_let_through_until_it_has_said_how_it_went(store, key):
    fail(store)
    let_the_pause_pass(store, key)

    assert enter(store, "first").word == "probe"
    waits = enter(store, "second")
    assert waits.word == "open"
    assert 0 < waits.wait <= 5


def test_exactly_one_of_32_threads_is_the_probe(store, key):
    # breaks when the script does not look at `probing`
    fail(store)
    let_the_pause_pass(store, key)
    words, at_once = [], threading.Barrier(32)

    def try_to_enter(number):
        at_once.wait()
        words.append(Connection(store.client).run(breaker.enter(store.keys, MODEL, f"t-{number}", LEASE_S)).word)

    threads = [threading.Thread(target=try_to_enter, args=[number]) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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

    assert enter(store) == breaker.State("closed")
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


def test_a_provider_that_asks_for_a_pause_gets_it_from_everybody_and_no_failure_is_counted(store):
    for _ in range(9):
        report(store, "busy", wait=90)

    refused = enter(store, "another")
    assert refused.word == "busy"
    assert 89 <= refused.wait <= 90
    assert state(store).failures == 0


def test_a_shorter_pause_does_not_end_a_longer_one(store):
    report(store, "busy", wait=90)
    report(store, "busy", wait=1)

    assert enter(store).wait > 80


def test_an_answer_to_somebody_else_does_not_end_a_pause(store):
    report(store, "busy", wait=90)
    report(store, "answered")

    assert enter(store).word == "busy"


def test_after_the_pause_that_was_asked_for_it_is_closed(store, key):
    report(store, "busy", wait=90)
    store.client.hset(key, "busy", 1)

    assert enter(store).word == "closed"


def test_names_that_look_alike_in_keys_have_breakers_of_their_own(store):
    names = ["a/b", "a:b", "a b", "a{b", "a_b"]

    assert len({store.keys.breaker(safe_name(name)) for name in names}) == len(names)
    assert not any(
        set("{} /") & set(store.keys.breaker(safe_name(name)).removeprefix(store.keys.prefix)) for name in names
    )


def test_a_server_whose_clock_was_set_back_leaves_no_model_alone_for_ever(store, key):
    in_a_year = 1_000 * (store.client.time()[0] + 365 * 86_400)
    store.client.hset(key, mapping={"busy": in_a_year, "until": in_a_year, "times": 1})

    assert state(store)[:2] == ("open", 0)
    assert enter(store).word == "probe"
    report(store, "busy", wait=20)
    assert 19 <= enter(store).wait <= 20
