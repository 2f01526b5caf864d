"""The ledger: every call is counted before it is made and billed after it, and budgets hold with any number of threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import pytest
import redis
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import BudgetReachedError, ModelError, StoreError
from om_api.store.driver.connection import Connection
from om_api.store.fleet import spending
from om_api.store.memory.keys import Keys
from om_workers.calls.ledger import Ledger
from om_workers.llm.base import Usage
from om_workers.process.event_publisher import EventPublisher

PRICED = {"OM_MODELS__PRICED__PRICES": "{input: 1, cached: 0.1, output: 4}", "OM_OBSERVER_MODEL": "priced"}
USAGE = Usage(input=1_000, cached=600, output=200)  # 460 + 800 micro-dollars


def ledger(store, **changed):
    named = {f"OM_{name.upper()}": value for name, value in changed.items()}
    settings, connection = load_settings(environ={**PRICED, **named}), Connection(store.client)
    return Ledger(settings, connection, store.keys, EventPublisher(settings, connection, store.keys))


def make(book, calls=1, model="priced", resource="harold", usage=USAGE):
    return [book.close(book.open(resource, "observe", model, 1_000), usage) for _ in range(calls)]


def today(store, resource="harold"):
    day = spending.day_of(int(store.client.time()[0]) * 1000)
    (found,) = store.run(spending.read(store.keys, [day], resource))
    return found


def bill(store, model="priced", purpose="observe", resource="harold"):
    parsed = {spending.parse(name): amount for name, amount in today(store, resource).items()}
    return {key[2]: amount for key, amount in parsed.items() if key and key[:2] == (model, purpose)}


def test_a_call_is_billed_to_its_agent_and_to_all(store):
    costs = make(ledger(store), calls=2)
    expected = {"calls": 2, "input": 2_000, "cached": 1_200, "output": 400, "micros": 2_520}

    assert costs == [0.00126, 0.00126]
    assert bill(store) == bill(store, resource=None) == expected


def test_a_call_for_no_agent_is_billed_to_all_alone(store):
    assert make(ledger(store), resource="") == [0.00126]
    assert bill(store, resource=None)["micros"] == 1_260
    assert not store.client.exists(store.keys.spent_by(spending.day_of(int(store.client.time()[0]) * 1000), ""))


def test_the_budget_of_one_agent_does_not_bound_it_and_that_of_all_does(store):
    book = ledger(store, budget__calls_per_day="0", total_budget__calls_per_day="1")

    make(book, resource="")
    with pytest.raises(BudgetReachedError, match="the budget of all agents"):
        make(book, resource="")


def test_purposes_and_models_are_billed_apart(store):
    book = ledger(store, models__other__prices="{input: 2, output: 2}")
    make(book)
    book.close(book.open("harold", "reflect", "other", 10), Usage(input=10, output=5))

    assert bill(store)["calls"] == bill(store, "other", "reflect")["calls"] == 1
    assert bill(store, "other", "reflect")["micros"] == 30


def test_a_failed_call_is_a_call_and_costs_nothing(store):
    book = ledger(store)

    assert book.close(book.open("harold", "observe", "priced", 1_000), None) == 0
    assert bill(store) == {"calls": 1, "failed": 1}
    assert (today(store)["all|calls"], today(store)["all|tokens"], today(store)["all|micros"]) == (1, 0, 0)


def test_a_failed_call_costs_what_the_provider_says_it_does(store):
    book = ledger(store)

    assert book.close(book.open("harold", "observe", "priced", 1_000), USAGE, failed=True) == 0.00126
    assert (bill(store)["failed"], bill(store)["micros"]) == (1, 1_260)


def test_a_model_of_unknown_price_is_counted_in_tokens_and_fails_nothing(store):
    assert make(ledger(store), model="mystery") == [None]
    assert bill(store, "mystery") == {"calls": 1, "input": 1_000, "cached": 600, "output": 200, "unpriced": 1}


def test_what_is_no_model_is_counted_nowhere_and_never_stopped(store):
    book = ledger(store, budget__calls_per_day="0", total_budget__calls_per_day="0")

    assert make(book, model="extractive") == [0]
    assert today(store) == {}


def test_until_it_is_closed_a_call_counts_with_its_input_and_as_much_of_an_answer(store):
    ledger(store).open("harold", "observe", "priced", 1_000)

    assert (today(store)["all|tokens"], today(store)["all|micros"]) == (2_000, 5_000)


@pytest.mark.parametrize(
    ("budget", "made"),
    [
        ({"budget__calls_per_day": "3"}, 3),
        ({"total_budget__calls_per_day": "3"}, 3),
        ({"budget__tokens_per_day": "3000"}, 3),
        ({"total_budget__tokens_per_day": "2400"}, 2),
        ({"budget__dollars_per_day": "0.00252"}, 2),
        ({"total_budget__dollars_per_day": "0.0026"}, 3),
    ],
)
def test_a_budget_stops_new_calls_with_the_one_that_crosses_it(store, budget, made):
    book = ledger(store, **budget)

    make(book, calls=made)
    with pytest.raises(BudgetReachedError):
        make(book)
    assert bill(store)["calls"] == today(store)["all|calls"] == today(store, None)["all|calls"] == made


def test_one_agents_budget_is_not_anothers(store):
    book = ledger(store, budget__calls_per_day="1")
    make(book)

    assert make(book, resource="ada") == [0.00126]


def test_the_refusal_says_whose_budget_of_what_and_when_to_come_back(store):
    book = ledger(store, total_budget__calls_per_day="0")
    with pytest.raises(ModelError) as it:
        make(book)

    assert "the budget of all agents is used up" in str(it.value)
    assert "total_budget.calls_per_day" in str(it.value)
    assert it.value.retryable
    assert it.value.instead is None
    assert 0 < it.value.retry_after <= 300


def test_a_budget_may_name_the_extractive_model_to_go_on_with(store):
    book = ledger(store, budget__calls_per_day="0", budget__then="extractive")
    with pytest.raises(BudgetReachedError) as it:
        make(book)

    assert it.value.instead == "extractive"


def test_no_budget_in_dollars_stops_what_costs_nothing(store):
    book = ledger(store, budget__dollars_per_day="0", models__local__prices="{input: 0, output: 0}")

    assert make(book, calls=3, model="local") == [0, 0, 0]


def test_a_model_whose_price_nobody_knows_is_named_once_where_a_budget_in_dollars_should_bound_it(store):
    with capture_logs() as said:
        book = ledger(store, budget__dollars_per_day="0", observer_model="mystery")
        make(book, calls=2, model="mystery")
        make(book, model="riddle")
        ledger(store, budget__calls_per_day="9", observer_model="mystery")

    assert {line["event"] for line in said} == {"price_unknown"}
    assert [line["model"] for line in said] == ["mystery", "riddle"]


def test_a_budget_that_is_used_up_is_logged_once_a_day_for_each_agent(store):
    book = ledger(store, budget__calls_per_day="0", budget__then="extractive")
    with capture_logs() as said:
        for resource in ("harold", "harold", "ada"):
            with suppress(BudgetReachedError):
                make(book, resource=resource)
        book._told.put(("harold", "budget.calls_per_day"), "2026-01-01")
        with suppress(BudgetReachedError):
            make(book)

    assert [line["agent"] for line in said] == ["harold", "ada", "harold"]
    assert {(line["event"], line["setting"], line["then"]) for line in said} == {
        ("budget_reached", "budget.calls_per_day", "extractive")
    }


def test_a_worker_that_dies_in_a_call_leaves_it_counted(store):
    ledger(store, budget__calls_per_day="1").open("harold", "observe", "priced", 10)
    with pytest.raises(BudgetReachedError):
        make(ledger(store, budget__calls_per_day="1"))


def test_an_answer_is_not_lost_because_its_bill_cannot_be_written(store):
    book = ledger(store)
    entry = book.open("harold", "observe", "priced", 10)

    def away(_steps):
        raise StoreError("away")

    book._run = away
    assert book.close(entry, USAGE) == 0.00126


def test_a_bill_that_is_settled_twice_counts_once(store):
    book = ledger(store)
    entry = book.open("harold", "observe", "priced", 10)
    book.close(entry, USAGE)
    book.close(entry, USAGE)

    assert bill(store)["calls"] == 1


@pytest.fixture
def real(server_url, prefix):
    """A store on a real server, which runs the calls of many threads at the same time."""
    with redis.Redis.from_url(server_url) as client:
        connection = Connection(client)
        yield SimpleNamespace(client=client, keys=Keys(prefix), run=connection.run)
        client.unlink(*client.scan_iter(f"{prefix}*", count=1000))


@pytest.mark.parametrize("budget", ["budget", "total_budget"])
def test_a_budget_of_calls_makes_exactly_as_many_with_32_threads(real, budget):
    books = [ledger(real, **{f"{budget}__calls_per_day": "100"}) for _ in range(2)]
    start, made = threading.Barrier(32), []

    def work(n):
        start.wait()
        for _ in range(10):
            with suppress(BudgetReachedError):
                made.append(make(books[n % 2]))

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))

    assert len(made) == bill(real)["calls"] == today(real)["all|calls"] == today(real, None)["all|calls"] == 100


def test_a_budget_of_tokens_is_exceeded_by_one_call_at_most_with_32_threads(real):
    book = ledger(real, total_budget__tokens_per_day="120000")
    start = threading.Barrier(32)

    def work(_n):
        start.wait()
        for _ in range(10):
            with suppress(BudgetReachedError):
                make(book)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))

    assert today(real)["all|tokens"] < 120_000 + 2_000


def test_a_call_of_which_the_provider_tells_nothing_is_billed_by_its_texts_and_marked(store):
    book = ledger(store, budget__tokens_per_day="2100")
    for _ in range(2):
        assert book.close(book.open("harold", "observe", "priced", 1_000), Usage(), answer=50) == 0.0012
    with pytest.raises(BudgetReachedError):
        book.open("harold", "observe", "priced", 1_000)

    assert bill(store) == {"calls": 2, "input": 2_000, "output": 100, "micros": 2_400, "estimated": 2}


def test_a_call_for_which_nobody_did_anything_is_billed_as_failed_and_counts_against_no_budget(store):
    book = ledger(store, budget__calls_per_day="1", total_budget__calls_per_day="1")
    for _ in range(3):
        book.close(book.open("harold", "observe", "priced", 1_000), None, bounded=False)

    assert bill(store) == {"calls": 3, "failed": 3}
    assert (today(store)["all|calls"], today(store)["all|tokens"], today(store, None)["all|calls"]) == (0, 0, 0)


@pytest.mark.parametrize(("usage", "billed"), [(Usage(input=700), 700), (Usage(output=300), 300)])
def test_a_usage_of_one_side_only_is_billed_as_told_not_as_expected(store, usage, billed):
    make(ledger(store), usage=usage)

    assert today(store)["all|tokens"] == billed
