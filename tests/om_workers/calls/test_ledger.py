"""The ledger: every call is counted before it is made and billed after it, and budgets hold with any number of threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from stores import Store

from om_api import load_settings
from om_api.domain.errors import BudgetReachedError, StoreError
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


def test_ledger_bills_each_call_by_its_usage_to_its_agent_and_to_all(store):
    book = ledger(store)
    expected = {"calls": 2, "input": 2_000, "cached": 1_200, "output": 400, "micros": 2_520}
    assert make(book, calls=2) == [0.00126, 0.00126]
    assert bill(store) == bill(store, resource=None) == expected
    assert make(book, resource="") == [0.00126]
    assert bill(store, resource=None)["calls"] == 3
    assert book.close(book.open("ada", "observe", "priced", 1_000), None) == 0
    assert bill(store, resource="ada") == {"calls": 1, "failed": 1}
    assert [today(store, "ada")[f"all|{unit}"] for unit in ("calls", "tokens", "micros")] == [1, 0, 0]
    assert book.close(book.open("bo", "observe", "priced", 1_000), USAGE, failed=True) == 0.00126
    assert (bill(store, resource="bo")["failed"], bill(store, resource="bo")["micros"]) == (1, 1_260)
    assert make(book, model="mystery", resource="cy") == [None]  # of unknown price
    counted = {"calls": 1, "input": 1_000, "cached": 600, "output": 200, "unpriced": 1}
    assert bill(store, "mystery", resource="cy") == counted
    book.open("di", "observe", "priced", 1_000)  # not closed yet: its input, and as much of an answer
    assert (today(store, "di")["all|tokens"], today(store, "di")["all|micros"]) == (2_000, 5_000)


def test_a_budget_stops_new_calls_with_the_one_that_crosses_it(store, prefix_for):
    for n, (budget, made) in enumerate([
        ({"budget__calls_per_day": "3"}, 3), ({"total_budget__calls_per_day": "3"}, 3),
        ({"budget__tokens_per_day": "3000"}, 3), ({"total_budget__tokens_per_day": "2400"}, 2),
        ({"budget__dollars_per_day": "0.00252"}, 2), ({"total_budget__dollars_per_day": "0.0026"}, 3),
    ]):  # fmt: skip
        here = Store(Keys(prefix_for(n)), store.clock, store.client)
        book = ledger(here, **budget)
        make(book, calls=made)
        with pytest.raises(BudgetReachedError):
            make(book)
        assert bill(here)["calls"] == today(here)["all|calls"] == today(here, None)["all|calls"] == made, budget


def test_the_refusal_says_whose_budget_of_what_and_when_to_come_back(store):
    book = ledger(store, budget__calls_per_day="1", budget__then="extractive", total_budget__calls_per_day="2")
    make(book)
    with pytest.raises(BudgetReachedError) as own:
        make(book)
    make(book, resource="")  # which no agent's budget bounds
    with pytest.raises(BudgetReachedError, match="the budget of all agents is used up") as of_all:
        make(book, resource="ada")
    assert (own.value.instead, of_all.value.instead) == ("extractive", None)
    assert "total_budget.calls_per_day" in str(of_all.value)
    assert of_all.value.retryable
    assert 0 < of_all.value.retry_after <= 300


def test_no_budget_stops_what_costs_nothing(store):
    free = {"models__local__prices": "{input: 0, output: 0}"}
    assert make(ledger(store, budget__dollars_per_day="0", **free), calls=3, model="local") == [0, 0, 0]
    assert make(ledger(store, budget__calls_per_day="0"), model="extractive") == [0]


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


def rush(*books):
    start, made = threading.Barrier(32), []

    def work(n):
        start.wait()
        for _ in range(10):
            with suppress(BudgetReachedError):
                made.append(make(books[n % len(books)]))

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))
    return made


@pytest.mark.parametrize("budget", ["budget", "total_budget"])
def test_a_budget_of_calls_makes_exactly_as_many_with_32_threads(store, budget):
    made = rush(*[ledger(store, **{f"{budget}__calls_per_day": "100"}) for _ in range(2)])
    assert len(made) == bill(store)["calls"] == today(store)["all|calls"] == today(store, None)["all|calls"] == 100


def test_a_budget_of_tokens_is_exceeded_by_one_call_at_most_with_32_threads(store):
    rush(ledger(store, total_budget__tokens_per_day="120000"))
    assert 120_000 <= today(store)["all|tokens"] < 120_000 + 2_000


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
