"""Who may call a model now: past its breaker, within its limits, and always with a place given back."""

import contextlib
import threading
import time

import pytest

from om_api.domain.errors import ModelError
from om_api.store.driver.connection import Connection
from om_api.store.fleet import breaker
from om_api.store.fleet.rates import Rate
from om_api.store.memory.keys import safe_name
from om_workers.calls.admission import Admission, PassedOverError
from om_workers.process.stopping import Stopping

MODEL = "slow-and-dear"
NONE = Rate()


@pytest.fixture
def admission(store):
    return Admission(Connection(store.client), store.keys, patience=0.3)


def call(admission, outcome=None, rate=NONE, tokens=10):
    """One call that is answered, or fails with the error it is given."""
    with contextlib.suppress(ModelError), admission.admit(MODEL, rate, tokens, 60) as passage:
        if outcome:
            passage.failed(outcome)
            raise outcome
        passage.answered()


def state(store):
    return store.run(breaker.states(store.keys, [MODEL]))[MODEL]


def test_five_failures_in_a_row_keep_every_worker_away(store, admission):
    for _ in range(5):
        call(admission, ModelError("503"))
        time.sleep(0.002)  # a call that begins in the first failure's own millisecond was in flight with it

    other = Admission(Connection(store.client), store.keys)
    with (
        pytest.raises(PassedOverError, match="slow-and-dear is passed over") as refusal,
        other.admit(MODEL, Rate(), 1, 60),
    ):
        pass
    assert refusal.value.retryable
    assert 29 <= refusal.value.retry_after <= 30


def test_what_the_request_is_to_blame_for_says_nothing_against_the_model(store, admission):
    for _ in range(9):
        call(admission, ModelError("I cannot read this", retryable=False))

    assert state(store) == breaker.BreakerState("closed")


def test_429s_without_an_answer_in_between_stop_every_worker_for_as_long_as_they_say_and_are_no_failures(
    store, admission
):
    for _ in range(2):
        call(admission, ModelError("429", retry_after=40))

    with (
        pytest.raises(ModelError, match="asked all workers for a pause") as refusal,
        admission.admit(MODEL, Rate(), 1, 60),
    ):
        pass
    assert not isinstance(refusal.value, PassedOverError)
    assert 39 <= refusal.value.retry_after <= 40
    assert state(store).failures == 0


def test_a_429_among_answers_stops_nobody(store, admission):
    for outcome in (None, ModelError("429", retry_after=40), None, None):
        call(admission, outcome)

    assert state(store).word == "held"
    with admission.admit(MODEL, Rate(), 1, 60):
        pass


def test_what_a_provider_lets_through_is_waited_for_like_a_limit_of_our_own(store, admission):
    """Catches a thread that comes back at once, for as long as others have their turn."""
    with admission.admit(MODEL, Rate(), 1, 60):
        call(admission, ModelError("429", retry_after=40))
        with pytest.raises(ModelError, match="lets through") as refusal, admission.admit(MODEL, NONE, 1, 60):
            pass

    assert refusal.value.retry_after >= 5


def test_a_call_that_was_not_made_gives_the_probes_place_back(store, admission):
    for _ in range(5):
        call(admission, ModelError("503"))
    store.client.hset(store.keys.breaker(safe_name(MODEL)), "until", 1)
    with admission.admit(MODEL, Rate(), 1, 60):
        pass

    assert "probing" not in {field.decode() for field in store.client.hgetall(store.keys.breaker(safe_name(MODEL)))}


def test_a_limit_is_waited_for_in_vain_only_as_long_as_there_is_hope(admission):
    call(admission, rate=Rate(requests_per_minute=1))

    with pytest.raises(ModelError, match="at its limits") as refusal, admission.admit(MODEL, Rate(1), 1, 60):
        pass
    assert 50 <= refusal.value.retry_after <= 63


def test_our_own_limit_closes_no_breaker(store, admission):
    for _ in range(9):
        call(admission, rate=Rate(requests_per_minute=1))

    assert state(store) == breaker.BreakerState("closed")


class Watched(Stopping):
    """Notes how many calls are in flight while somebody waits."""

    def __init__(self, store):
        super().__init__()
        self.in_flight, self._store = [], store

    def pause(self, seconds):
        self.in_flight.append(self._store.client.zcard(self._store.keys.holders(safe_name(MODEL))))
        super().pause(seconds)


def test_a_limit_that_ends_soon_is_waited_for_without_a_place_among_the_calls_in_flight(store):
    """Catches places held by who only waits: what a refusal says would be divided by calls that nobody makes."""
    waiting = Watched(store)
    admission, made = Admission(Connection(store.client), store.keys, stopping=waiting), []
    for _ in range(2):  # one a second
        with admission.admit(MODEL, Rate(requests_per_minute=60), 1, 60):
            made.append(store.client.time())

    assert len(made) == 2
    assert set(waiting.in_flight) == {0}


def test_a_place_is_given_back_however_the_call_ends(store, admission):
    rate = Rate(concurrency=1)
    for outcome in (ModelError("503"), ModelError("no", retryable=False), None):
        call(admission, outcome, rate)

    assert store.client.zcard(store.keys.holders(safe_name(MODEL))) == 0


def test_a_place_is_given_back_when_another_limit_is_in_the_way(store, admission):
    for _ in range(2):
        call(admission, rate=Rate(requests_per_minute=1, concurrency=1))

    assert store.client.zcard(store.keys.holders(safe_name(MODEL))) == 0


def test_no_more_calls_run_at_the_same_time_than_concurrency_says(store):
    # breaks when the place is given back before the call has ended
    admission, running, most, guard = Admission(Connection(store.client), store.keys), [], [], threading.Lock()

    def work():
        with admission.admit(MODEL, Rate(concurrency=3), 1, 60):
            with guard:
                running.append(1)
                most.append(len(running))
            threading.Event().wait(0.02)
            with guard:
                running.pop()

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 12
    assert max(most) <= 3
