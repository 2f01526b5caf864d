"""The breaker: opens after five failures, lets one probe through, asks less of who refuses, and late news decide nothing."""

import threading

import pytest
from stores import empty, fresh

from om_api.store.driver.connection import Connection
from om_api.store.driver.steps import Verb
from om_api.store.fleet import breaker
from om_api.store.memory.keys import safe_name

MODEL = "some/model: 7B {fast}"
LEASE_S = 60


@pytest.fixture
def key(store):
    return store.keys.breaker(safe_name(MODEL))


@pytest.fixture
def own(key):
    return f"{key}:harold"


@pytest.fixture
def holders(store):
    return store.keys.holders(safe_name(MODEL))


def call(token="t", agent="harold"):
    return breaker.Attempt(MODEL, token, LEASE_S, agent)


def enter(store, token="t", most=None, agent="harold"):
    return store.run(breaker.enter(store.keys, call(token, agent), most))


def report(store, outcome, token="t", wait=0.0, agent="harold"):
    store.run(breaker.report(store.keys, call(token, agent), outcome, wait))


def reported(store, outcome):
    """The word with which the script itself answers a report."""
    name = safe_name(MODEL)
    keys = [
        store.keys.breaker(name),
        store.keys.holders(name),
        store.keys.breaker(name, "ada"),
        store.keys.holders(name, "ada"),
    ]
    return (yield from Verb("breaker_report", keys, ["t", LEASE_S * 1000, outcome, 0, "ada"], bytes))


def state(store, agent="harold"):
    return store.run(breaker.states(store.keys, [MODEL], agent))[MODEL]


def fail(store, times=5, agents=("harold", "ada")):
    """Failures of agents in turn, which stop all of them."""
    for n in range(times):
        report(store, "failed", agent=agents[n % len(agents)])


def let_the_pause_pass(store, key):
    store.client.hset(key, "until", 1)


def opened(store, key):
    """Open it, and let its pause pass: the next call is the probe."""
    fail(store)
    let_the_pause_pass(store, key)


def test_the_fifth_failure_of_a_minute_opens_it_for_30_seconds(store, key, holders):
    assert enter(store) == state(store) == breaker.BreakerState("closed")
    fail(store, 4)
    # a call that begins in the first failure's own millisecond was in flight with it
    store.client.hincrby(key, "since", -1)
    assert enter(store).word == "closed"
    store.client.delete(holders)
    assert store.run(reported(store, "failed")) == b"open"
    refused = enter(store)
    assert refused.word == "open"
    assert 29 <= refused.wait <= 30
    assert (state(store).word, state(store).failures, store.client.zcard(holders)) == ("open", 5, 0)

    before = store.client.hgetall(key)
    for outcome in ("answered", "failed"):  # of a call that began before it opened
        report(store, outcome, "late")
        assert store.client.hgetall(key) == before, outcome


def test_failures_are_counted_within_a_minute_and_until_an_answer(store, key):
    for age, last, word in fresh(store, ((60_000, 4, "closed"), (45_000, 1, "open"))):
        fail(store, 4)
        store.client.hincrby(key, "since", -age)
        fail(store, last)
        assert enter(store).word == word, age
    empty(store)
    fail(store, 4)
    assert store.run(reported(store, "answered")) == b"closed"
    fail(store, 4)
    assert enter(store).word == "closed"


def test_a_breaker_is_remembered_for_a_day_after_the_last_report(store, key):
    lasts = {
        "a failure": fail,
        "an answer": lambda of: report(of, "answered"),
        "a probe": lambda of: enter(of, "probe"),
    }
    for last in fresh(store, lasts):
        opened(store, key)
        store.client.persist(key)
        lasts[last](store)
        assert store.client.pttl(key) == pytest.approx(86_400_000, abs=60_000), last


def test_after_the_pause_one_probe_is_let_through_until_it_has_reported(store, key):
    opened(store, key)
    assert enter(store, "first") == breaker.BreakerState("probe")
    assert enter(store, "second") == breaker.BreakerState("open", 5)  # however long its lease is
    report(store, "none", "first")  # it was not made after all
    assert enter(store, "dead").word == "probe"
    store.client.hset(key, "probing", 1)  # its worker died
    assert enter(store, "next").word == "probe"
    report(store, "answered", "next")
    assert enter(store) == breaker.BreakerState("closed")
    assert state(store).failures == 0


def at_once(store, most=None, threads=32):
    """What as many threads hear that enter at once."""
    words, barrier = [], threading.Barrier(threads)

    def try_to_enter(number):
        barrier.wait()
        words.append(Connection(store.client).run(breaker.enter(store.keys, call(f"t-{number}"), most)).word)

    running = [threading.Thread(target=try_to_enter, args=(number,)) for number in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return sorted(words)


def test_of_32_threads_one_is_the_probe_and_as_many_as_there_are_places_get_one(store, key):
    """Breaks when the script does not look at `probing`, or does not count."""
    opened(store, key)
    assert at_once(store) == ["open"] * 31 + ["probe"]
    store.client.delete(key)
    assert at_once(store, 7) == ["closed"] * 7 + ["full"] * 25


def test_a_late_report_of_another_call_lets_no_second_probe_through(store, key):
    """Breaks when anybody's report ends the probe's turn: calls that began before it opened would let others through."""
    for outcome in fresh(store, ["answered", "failed", "busy", "none"]):
        opened(store, key)
        assert enter(store, "probe").word == "probe"
        report(store, outcome, "late")
        assert enter(store, "another").word in {"open", "busy"}, outcome


def test_each_failed_probe_doubles_the_pause_up_to_ten_minutes(store, key):
    for agents in fresh(store, (["harold"], ["harold", "ada"])):
        fail(store, 5, agents)
        for n, pause in enumerate((60, 120, 240, 480, 600, 600)):
            for agent in agents:
                for opened in (key, *(f"{key}:{name}" for name in agents)):
                    if store.client.hexists(opened, "until"):
                        let_the_pause_pass(store, opened)
                assert enter(store, "probe", agent=agent).word == "probe"
                report(store, ("failed", "late")[n % 2], "probe", agent=agent)
            assert round(state(store).wait) == pause, agents
        assert enter(store, agent="bob").word == ("closed" if len(agents) == 1 else "open")


def test_what_fails_for_one_agent_stops_that_agent_alone(store, key):
    """Breaks when an agent's fourth failure counts for the model, or when one agent's failed probe lengthens its pause."""
    fail(store, 9, ["harold"])
    report(store, "failed", agent="ada")
    assert [enter(store, agent=agent).word for agent in ("harold", "ada", "bob")] == ["open", "closed", "closed"]
    assert (state(store, "bob").word, state(store, "bob").agent) == ("partial", "harold")
    report(store, "answered", agent="ada")
    assert enter(store).word == "open"
    let_the_pause_pass(store, f"{key}:harold")
    assert [enter(store, token).word for token in "pq"] == ["probe", "open"]
    report(store, "answered", "p")
    assert state(store) == state(store, "bob") == breaker.BreakerState("closed")

    opened(store, key)
    for token in "pq":  # harold's probe fails for a reason of harold's
        assert enter(store, token).word == ("probe" if token == "p" else "open")
        report(store, "failed", token)
    assert enter(store, "r", agent="ada").word == "probe"
    report(store, "answered", "r", agent="ada")
    assert [enter(store, agent=agent).word for agent in ("harold", "bob")] == ["open", "closed"]


def test_a_provider_that_refuses_everything_gets_its_pause_from_everybody(store):
    refuse_everything(store)
    refused = enter(store, "another")
    assert refused.word == "busy"
    assert 89 <= refused.wait <= 90
    assert state(store).failures == 0

    report(store, "busy", wait=1)  # a shorter pause
    report(store, "answered")  # an answer to somebody else
    assert enter(store).wait > 80


def test_after_the_pause_that_was_asked_for_one_call_at_a_time_is_made_until_they_are_answered(store, own):
    refuse_everything(store)
    store.client.hset(own, "busy", 1)

    assert words(store, "abc") == ["closed", "full", "full"]
    answer(store, "a")
    assert words(store, "abc") == ["closed", "full", "full"]
    for _ in range(3):
        answer(store, "a")
        enter(store, "a")
    assert words(store, "abc") == ["closed", "closed", "full"]


def test_a_server_whose_clock_was_set_back_leaves_no_model_alone_for_ever(store, key):
    in_a_year = 1_000 * (store.client.time()[0] + 365 * 86_400)
    store.client.hset(key, mapping={"busy": in_a_year, "until": in_a_year, "times": 1})

    assert state(store)[:2] == ("open", 0)
    assert enter(store).word == "probe"
    report(store, "none")
    refuse_everything(store, 20)
    assert 19 <= enter(store).wait <= 20


def test_a_pause_of_ten_minutes_is_obeyed_and_a_longer_one_is_none(store, key):
    """Catches a bound that would end the longest pause early, or begin it anew with a clock that was set back."""
    now = 1_000 * store.client.time()[0]
    for field, minutes in fresh(store, [("busy", 9), ("busy", 11), ("until", 9), ("until", 11)]):
        store.client.hset(key, field, now + minutes * 60_000)
        store.client.expire(key, 60)
        assert (enter(store).wait > 0) is (minutes == 9), (field, minutes)


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
    store.client.hincrby(store.keys.breaker(safe_name(MODEL), "harold"), "cut", -1000)


def room(store):
    return float(store.client.hget(store.keys.breaker(safe_name(MODEL), "harold"), "room"))


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

    empty(store)  # the last of a burst stops nobody
    words(store, "abcd")
    refuse(store, "a")
    answer(store, "bc")
    refuse(store, "d")
    assert enter(store).word == "closed"


def test_only_a_call_that_began_afterwards_halves_it_again(store, own, holders):
    for ms, share in fresh(store, [(0, 1), (1, 0.5)]):
        words(store, "abcdefgh")
        refuse(store, "a")
        answer(store, "bcdefgh")
        later(store, holders)
        before = room(store)
        enter(store, "i")
        store.client.zadd(holders, {"i": int(store.client.hget(own, "cut")) + ms + LEASE_S * 1000})
        refuse(store, "i")

        assert room(store) == before * share, ms
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


def test_room_grows_by_a_call_an_answer_up_to_the_half_and_slowly_from_there(store, holders):
    words(store, "abcdefgh")
    refuse(store, "abcdefgh")
    grown = [room(store)]
    for _ in range(6):
        answer(store, "x")
        grown.append(room(store))

    assert grown == [1, 2, 3, 4, 5, 5.25, 5.5]


def test_a_refusal_that_is_ten_minutes_old_or_in_the_future_holds_nobody_back(store, key, own):
    """Catches a room that stays for ever: nobody halves it again before the clock has come to where it was."""
    for ms, word in fresh(store, [(-600_001, "closed"), (10**9, "closed")]):
        words(store, "abcd")
        refuse(store, "a")
        store.client.hincrby(own, "cut", ms)
        store.client.hincrby(key, "refused_at", ms)
        assert (state(store).word, state(store).room) == (word, 0), ms
        refuse(store, "b")
        assert state(store).word == "held", ms
        store.client.hincrby(own, "cut", ms)
        answer(store, "c")
        assert store.client.hmget(own, "room", "half", "cut") == [None] * 3, ms


def test_what_is_refused_for_one_agent_limits_that_agent_alone(store, key, own):
    """Breaks when a second refusal of one agent counts for the model: its threads would close the model in turn."""
    words(store, "abcdefgh")
    refuse(store, "abcdefgh", 600)
    refuse_everything(store, 600)
    assert [enter(store, agent=agent).word for agent in ("harold", "ada", "bob")] == ["busy", "closed", "closed"]
    assert (state(store).word, *state(store, "bob")[::4]) == ("busy", "partial", "harold")
    store.client.hset(own, "busy", 1)
    store.client.hset(key, "alone_until", 1)
    assert (state(store).word, *state(store, "bob")[::4]) == ("held", "held", "harold")
    assert [enter(store, token).word for token in "xy"] == ["closed", "full"]
    assert not store.client.hexists(key, "room")


def test_what_two_agents_are_refused_without_an_answer_between_closes_the_model(store, key):
    for first, between, word in fresh(store, [(0, False, "busy"), (0, True, "closed"), (-60_000, False, "closed")]):
        report(store, "busy", "a", 40)
        store.client.hincrby(key, "refused_at", first)
        if between:
            report(store, "answered", "b", agent="bob")
        report(store, "busy", "c", 40, "ada")
        assert enter(store, agent="bob").word == word, (first, between)
    empty(store)
    for token in "abcdef":  # the calls in flight of two agents, refused one agent after the other
        enter(store, token, agent="ada" if token in "ab" else "harold")
    for token in "acbdef":
        report(store, "busy", token, 40, "ada" if token in "ab" else "harold")
    assert enter(store, agent="bob").word == "busy"
    store.client.hset(key, "busy", 1)
    for agent in ("ada", "ada", "harold"):  # the next pause takes two agents again
        assert enter(store, "p", agent="bob").word == "closed"
        report(store, "none", "p", agent="bob")
        report(store, "busy", "x", 40, agent)
        store.client.hset(f"{key}:{agent}", "busy", 1)
    assert enter(store, agent="bob").word == "busy"


def test_refusals_of_agents_in_turn_halve_the_room_of_all_in_spite_of_answers(store, key, holders):
    for n in range(8):
        enter(store, f"t{n}", agent=f"agent-{n}")
    for n in range(2):
        report(store, "busy", f"t{n}", 40, f"agent-{n}")
        report(store, "answered", "x", agent="bob")
    assert state(store, "bob") == breaker.BreakerState("held", room=4)

    store.client.delete(holders)
    store.client.hset(key, "room", 1)
    store.client.hincrby(key, "cut", -1000)
    enter(store, "z", agent="ada")
    report(store, "busy", "z", 40, "ada")
    assert enter(store, agent="bob").word == "closed"  # less than one call's room, but one was answered


def test_agents_take_turns_at_a_single_place(store, key):
    """Breaks when whoever comes first has the place: an agent of many threads would have it again and again."""
    store.client.hset(key, mapping={"room": 1, "half": 1, "cut": 1})
    assert [enter(store, token, agent=agent).word for token, agent in ("ah", "bh", "ca", "db")] == [
        "closed",
        *["full"] * 3,
    ]
    report(store, "none", "a", agent="h")
    assert [enter(store, token, agent=agent).word for token, agent in ("bh", "db", "ca")] == ["full", "full", "closed"]
    report(store, "none", "c", agent="a")
    for token, agent in ("bh", "ca"):  # no other agent waits
        assert enter(store, token, agent=agent).word == "closed"
        report(store, "none", token, agent=agent)
    assert enter(store, "c", agent="a").word == "closed"
    assert enter(store, "b", agent="h").word == "full"
    report(store, "none", "c", agent="a")
    store.client.hset(key, "turn_until", 1)  # the next agent is gone
    assert enter(store, "c", agent="a").word == "closed"


def test_calls_in_flight_that_break_at_once_count_as_one_failure(store, key, holders):
    """Catches a connection that was shared: the model is well, and nobody would ask it for half a minute."""
    words(store, "abcdefgh")
    for token in "abcd":
        report(store, "failed", token)
    store.client.hset(key, "since", int(store.client.zscore(holders, "h")) - LEASE_S * 1000)
    for token in "efgh":
        report(store, "failed", token)
    assert enter(store).word == "closed"
    store.client.hincrby(key, "since", -1000)
    report(store, "failed")
    assert enter(store).word == "open"

    empty(store)  # what waited in vain counts each, though it began together
    words(store, "abcde")
    for token in "abcde":
        report(store, "late", token)
    assert enter(store).word == "open"


def test_there_are_no_more_places_than_most_and_a_repeat_keeps_its_own(store, holders):
    """Catches a repeat after a lost reply that is refused: its place would be taken, and nobody would call."""
    assert words(store, "abaa", 2) == ["closed"] * 4
    assert store.client.zcard(holders) == 2
    assert enter(store, "c", 2) == breaker.BreakerState("full")
    store.run(breaker.enter(store.keys, call("a")._replace(lease_s=1)))
    assert store.client.pttl(holders) == pytest.approx(LEASE_S * 1000, abs=5_000)  # the longest lease

    store.client.zadd(holders, {"a": 1})  # its worker died
    assert words(store, "c", 2) == ["closed"]
    assert store.client.zrange(holders, 0, -1) == [b"b", b"c"]
    for outcome in fresh(store, ["answered", "failed", "late", "none"]):  # given back however the call ended
        words(store, "ab", 2)
        report(store, outcome, "a")
        assert words(store, "cd", 2) == ["closed", "full"], outcome
