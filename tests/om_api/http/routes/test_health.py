"""Whether a process lives, and can do its work; and figures of the store at this moment, for whoever may see everybody's."""

import pytest
from prometheus_client.parser import text_string_to_metric_families
from refusals import problem
from scraped import labels_of, scraped
from served import filled, serving, settings_of
from world import World

from om_api.domain.events import Event
from om_api.metrics import scraper
from om_api.metrics.series import SERIES

#: series of an archive, of beats, budgets, hooks and prices of the actor, none of which these tests' agents have
NOT_SET_UP = {
    *("archive_behind_seconds", "archive_due", "archive_failing_seconds", "archived_total", "budget_used_ratio"),
    *("cost_savings_total", "hook_failures_total", "tick_age_seconds", "tick_interval_seconds"),
}


def samples(text: str) -> dict[tuple[str, ...], float]:
    """What was scraped, by name and the values of its labels in their alphabetical order."""
    found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    assert [sample.name for sample in found if set(sample.labels) != labels_of(sample.name)] == []
    return {
        (each.name.removeprefix("cortex_om_"), *dict(sorted(each.labels.items())).values()): each.value
        for each in found
    }


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch):
    """Nobody is given another one's answer."""
    monkeypatch.setattr(scraper, "FRESH_S", 0.0)


@pytest.fixture
def scrape(using):
    """What Prometheus sees."""
    ask = using("reader", "*")
    return lambda: samples(ask("GET", "/metrics").text)


@pytest.fixture
def lived(world: World) -> World:
    """Harold was observed and reflected, and goes on; Ada has only begun."""
    world = World(world.client, world.prefix, observation_threshold="250", reflection__drain="false")
    filled("lived", world, _live)
    return world


def _live(world: World) -> None:
    for n in range(40):
        world.say(f"message {n}")
        world.tick()
        world.context()
    world.say("and now?")
    world.say("hello", resource="ada")
    world.services.events.tell(Event(kind="cleared", resource="ada"))
    world.om.close()


def locally(settings, **changed):
    """What a program on this machine is answered where nobody needs a key."""
    with serving(settings_of(settings, **changed), locked=False) as http:
        return http.get("/metrics")


def test_quarantines_are_of_each_of_others_and_of_nobody_and_a_broken_memory_hides_no_other(lived, scrape):
    for name, entries in {"ada": 1, "stranger": 2, "unknown": 3}.items():
        lived.client.rpush(f"{lived.prefix}:{{{name}}}:rejected", *["?"] * entries)
    lived.client.zadd(f"{lived.prefix}:resources", {"ada": 1, "stranger": 1})
    found = {labels[1]: value for labels, value in scrape().items() if labels[0] == "quarantine_messages"}
    assert found == {"harold": 0, "ada": 1, "(other)": 2, "unknown": 3}

    lived.client.hset(f"{lived.prefix}:{{ada}}:tokens", "*", "many")
    lived.client.hset(f"{lived.prefix}:{{harold}}:record", "limits", '{"limits": {"message_threshold": 0}}')
    lived.client.zadd(f"{lived.prefix}:due:observe", {"ada": "-inf"})
    broken = scrape()
    assert (broken["unreadable_resources",], broken["measured_resources",]) == (1, 2)
    assert broken["observations_tokens", "harold"] > 0
    assert ("observations_tokens", "ada") not in broken
    assert broken["contexts_total", "ada"] == 0
    assert broken["lag_seconds", "observe"] < 3_600


def test_every_series_is_there_but_for_what_nobody_has_set_up(lived, scrape):
    found = {f"cortex_om_{name}" for name, *_ in scrape()}
    missing = [series.name for series in SERIES if found.isdisjoint(scraped(series))]

    assert {name.removeprefix("cortex_om_") for name in missing} == NOT_SET_UP


def test_budgets_are_shown_beside_their_limits(lived, settings):
    day = lived.om.costs("harold", 1).last
    for key in (lived.services.keys.spent(day), lived.services.keys.spent_by(day, "harold")):
        lived.client.hset(key, mapping={"all|calls": 9, "all|tokens": 500})
        lived.client.expire(key, 60)
    limits = {"budget__calls_per_day": "10", "total_budget__tokens_per_day": "400", "total_budget__calls_per_day": "0"}
    found = samples(locally(settings, **limits).text)

    assert {labels[1:]: value for labels, value in found.items() if labels[0] == "budget_used_ratio"} == {
        ("harold", "budget.calls_per_day"): 0.9, ("ada", "budget.calls_per_day"): 0,
        ("(all)", "total_budget.tokens_per_day"): 1.25, ("(all)", "total_budget.calls_per_day"): 1,
    }  # fmt: skip


def test_figures_are_for_keys_of_all_and_while_the_store_is_away_there_are_none(using, app, settings):
    assert [app.get(path).json() for path in ("/healthz", "/readyz")] == [{"status": "alive"}, {"status": "ready"}]
    refused = using("operator", "harold")("GET", "/metrics")
    assert "use one that is bound to *" in problem(refused, 403)["detail"]
    with serving(settings, locked=False) as http:
        assert http.get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")
        assert http.get("/metrics", headers={"Origin": "http://elsewhere.example"}).status_code == 403
    problem(locally(settings, redis_url="redis://127.0.0.1:1/0"), 503)
