"""Which model is called, and when its limits admit the call."""

import contextlib
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import ModelError
from om_api.store.driver.connection import Connection
from om_api.store.fleet import breaker
from om_api.store.fleet.rates import Rate
from om_api.store.memory.keys import safe_name
from om_workers.calls.admission import Admission, PassedOverError
from om_workers.calls.registry import Registry
from om_workers.llm.scripted import Scripted

MODEL = "slow-and-dear"
NONE = Rate()


@pytest.fixture
def admission(store):
    return Admission(Connection(store.client), store.keys, patience=0.3)


def call(admission, outcome=None, rate=NONE, tokens=10, agent=""):
    with contextlib.suppress(ModelError), admission.admit(MODEL, rate, tokens, 60, agent) as passage:
        if outcome:
            passage.failed(outcome)
            raise outcome
        passage.answered()


def state(store):
    return store.run(breaker.states(store.keys, [MODEL]))[MODEL]


def test_five_failures_keep_every_worker_away_unless_the_request_is_to_blame(store, admission):
    for _ in range(9):
        call(admission, ModelError("I cannot read this", retryable=False))
    assert state(store) == breaker.BreakerState("closed")
    for agent in ("harold", "ada", "harold", "ada", "harold"):
        call(admission, ModelError("503"), agent=agent)
        time.sleep(0.002)  # a call that begins in the first failure's own millisecond was in flight with it
    other = Admission(Connection(store.client), store.keys)
    with (pytest.raises(PassedOverError, match="slow-and-dear is passed over") as refusal,
          other.admit(MODEL, NONE, 1, 60)):  # fmt: skip
        pass
    assert refusal.value.retryable
    assert 29 <= refusal.value.retry_after <= 30


def test_429s_without_an_answer_stop_every_worker_for_as_long_as_they_say_and_are_no_failures(store, admission):
    for _ in range(2):
        call(admission, ModelError("429", retry_after=40))
    with pytest.raises(ModelError, match="asked for a pause") as refusal, admission.admit(MODEL, NONE, 1, 60):
        pass
    assert not isinstance(refusal.value, PassedOverError)
    assert 39 <= refusal.value.retry_after <= 40
    assert state(store).failures == 0


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
    own = store.keys.breaker(safe_name(MODEL), "")
    store.client.hset(own, "until", 1)
    with admission.admit(MODEL, Rate(), 1, 60):
        assert store.client.hexists(own, "probing")
    assert not store.client.hexists(own, "probing")


def test_a_limit_is_waited_for_in_vain_only_as_long_as_there_is_hope(admission):
    call(admission, rate=Rate(requests_per_minute=1))
    with pytest.raises(ModelError, match="at its limits") as refusal, admission.admit(MODEL, Rate(1), 1, 60):
        pass
    assert 50 <= refusal.value.retry_after <= 63


def test_a_place_is_given_back_however_the_call_ends(store, admission):
    rate = Rate(concurrency=1)
    for outcome in (ModelError("503"), ModelError("no", retryable=False), None):
        call(admission, outcome, rate)
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


TIERS = "[{up_to: 1000, model: small}, {up_to: 2000, model: middle}]"
SCRIPTED = {"OM_MODELS__SMALL__PROVIDER": "scripted", "OM_MODELS__MIDDLE__PROVIDER": "scripted"}


def registry(**environ):
    return Registry(load_settings(environ={**SCRIPTED, **environ}))


def test_a_request_is_answered_by_the_smallest_tier_that_holds_it():
    for tokens, name in ((0, "small"), (1000, "small"), (1001, "middle"), (2000, "middle"), (2001, "smart")):
        models = registry(OM_MODELS__SMART__TIERS=TIERS, OM_MODELS__SMART__PROVIDER="scripted")
        assert models.model_for("smart", tokens).name == name, (tokens, name)
    models = registry(OM_MODELS__SMART__TIERS=TIERS)
    with pytest.raises(ModelError, match="smart has no tier for 2,001 tokens, its largest is up to 2,000") as caught:
        models.model_for("smart", 2001)
    assert not caught.value.retryable


def test_a_model_that_cannot_be_used_is_said_once_with_the_reason():
    models = registry(OM_MODELS__SMART__TIERS="[{up_to: 1000, model: gpt-x}]")
    with capture_logs() as logs:
        assert [models.model_for("smart", 5), models.model_for("smart", 6)] == [None, None]
    assert [(said["event"], said["model"]) for said in logs] == [("model_not_available", "gpt-x")]
    with capture_logs() as logs:
        assert registry(OM_MODELS__MINE__PROVIDER="vertex").model_for("mine", 5) is None
    assert logs[0]["reason"] == "there is no provider vertex; permitted: extractive, gemini, openai, scripted"


@pytest.mark.nightly
def test_a_process_that_asks_no_model_imports_no_sdk_and_reads_no_vocabulary():
    slow = {"openai", "google.genai", "tiktoken"}
    asked = [sys.executable, "-c", f"import sys, om_workers.app; print({slow} & {{*sys.modules}})"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "set()\n"


def test_threads_that_ask_for_a_model_at_once_get_the_same_one(monkeypatch):
    """Without the registry's lock each thread makes a client of its own, and all but one are never closed."""
    models, at_once, made = registry(OM_MODELS__MINE__BASE_URL="http://127.0.0.1:1"), threading.Barrier(8), []

    def slow(*_):
        made.append(Scripted(name="mine"))
        threading.Event().wait(0.05)  # so that others ask meanwhile
        return made[-1]

    def ask(_):
        at_once.wait(30)
        return models.model(["mine"])

    monkeypatch.setattr("om_workers.llm.openai_compatible.OpenAICompatible", slow)
    with ThreadPoolExecutor(8) as pool:
        assert [*map(id, pool.map(ask, range(8)))] == [*map(id, made)] * 8
