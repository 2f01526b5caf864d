"""Whether a process lives, and can do its work; and figures of the store at this moment, for whoever may see everybody's."""

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scraped import labels_of
from servers import Server
from starlette.testclient import TestClient
from world import SMALL, World

from om_api import load_settings
from om_api.domain.events import Event
from om_api.http import make_app
from om_api.metrics import scraper
from om_api.metrics.series import OTHER
from om_api.settings import Settings
from om_api.store.fleet import presence
from om_api.store.fleet.breaker import Attempt, report
from om_api.store.fleet.presence import Ticked
from om_api.store.memory import due

LOCAL = "http://127.0.0.1:8000"


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
def scrape(using: Any) -> Callable[[], dict[tuple[str, ...], float]]:
    """What Prometheus sees."""
    ask = using("reader", "*")
    return lambda: samples(ask("GET", "/metrics").text)


@pytest.fixture
def lived(world: World) -> World:
    """Harold was observed and reflected, and goes on; Ada has only begun."""
    world = World(world.client, world.prefix, observation_threshold="150", reflection__drain="false")
    for n in range(40):
        world.say(f"message {n}")
        world.tick()
        world.context()
    world.say("and now?")
    world.say("hello", resource="ada")
    world.services.events.tell(Event(kind="cleared", resource="ada"))
    world.om.close()
    return world


def given(settings: Settings, **changed: str) -> Settings:
    """The same store, with other settings."""
    return load_settings(None, {**SMALL, "OM_PREFIX": settings.prefix, "OM_REDIS_URL": settings.redis_url, **changed})


def locally(settings: Settings) -> Any:
    """What a program on this machine is answered where nobody needs a key."""
    with TestClient(
        make_app(settings, locked=False, timeout=0.5), base_url=LOCAL, raise_server_exceptions=False
    ) as http:
        return http.get("/metrics")


def test_tiers_are_those_that_stats_tell(lived, scrape):
    found, stats = scrape(), lived.om.stats("harold")
    told = {
        "messages_tokens": stats.message_tokens,
        "chunks_tokens": stats.chunk_tokens,
        "observations_tokens": stats.observation_tokens,
        "reflections_tokens": stats.reflection_tokens,
        "message_pressure_ratio": (stats.message_tokens + stats.chunk_tokens) / stats.message_threshold,
        "observation_pressure_ratio": stats.observation_tokens / stats.observation_threshold,
    }

    assert {name: found[name, "harold"] for name in told} == pytest.approx(told)
    assert round(found["compression_ratio", "harold"], 2) == stats.compression
    assert (found["messages_tokens", "ada"], found["observations_tokens", "ada"]) == (100, 0)
    assert ("compression_ratio", "ada") not in found


def test_what_was_made_is_counted(lived, scrape):
    found, generations = scrape(), lived.om.generations("harold")
    kept = {each.id for each in lived.om.observations("harold")}
    chunks = {name for each in generations for name in each.observation_ids} | kept
    ready = lived.om.stats("harold").ready_chunks

    assert found["reflections_created_total", "harold"] == len(generations) > 0
    assert found["observations_created_total", "harold"] == len(chunks) + ready
    assert found["observer_duration_seconds_count", "harold"] == len(chunks) + ready
    assert found["reflector_duration_seconds_count", "harold"] >= len(generations)
    assert found["contexts_total", "harold"] == 40
    assert 0 < found["prefix_stable_share", "harold"] < 1
    assert found["observations_created_total", OTHER] == 0


def test_agents_beyond_the_limit_are_one(lived, settings):
    lived.client.zremrangebyrank(f"{lived.prefix}:measured", 1, -1)
    found = samples(locally(settings).text)

    assert {labels[1] for labels in found if labels[0] == "messages_tokens"} == {"harold"}
    assert {labels[1] for labels in found if labels[0] == "contexts_total"} == {"harold", OTHER}
    assert found["measured_resources",] == 1


def test_lag_counts_from_when_a_scope_came_due_urgent_or_not(world, scrape):
    assert scrape()["lag_seconds", "observe"] == 0
    now, index = world.services.run(due.server_ms()), world.services.keys.due_observe
    world.client.zadd(index, {"harold": now - 90_000, "later": now + 60_000})
    plain = scrape()
    world.client.zadd(index, {"ada": now - due.URGENT_MS - 300_000})
    urgent = scrape()

    assert plain["lag_seconds", "observe"] == pytest.approx(90, abs=30)
    assert (plain["due_scopes", "observe"], plain["due_scopes", "reflect"]) == (1, 0)
    assert urgent["lag_seconds", "observe"] == pytest.approx(300, abs=30)


def test_ticks_workers_and_breakers_are_shown_as_the_store_has_them(world, scrape):
    run, keys = world.services.run, world.services.keys
    run(presence.ticked(keys, "observer", Ticked(at=run(due.server_ms()) - 40_000, interval=10.0)))
    run(presence.here(keys, presence.Worker(name="w-1", host="h", pid=1, version="1")))
    for _ in range(5):
        run(report(keys, Attempt("deepseek", "token", 10), "failed"))
    run(report(keys, Attempt("gemini-2.5-flash", "token", 10), "busy", 30))
    found = scrape()

    assert found["tick_age_seconds", "observer"] == pytest.approx(40, abs=30)
    assert found["tick_interval_seconds", "observer"] == 10
    assert ("tick_age_seconds", "sweep") not in found
    assert found["workers",] == 1
    assert {state: found["breaker_state", "deepseek", state] for state in ("closed", "held", "open", "busy")} == {
        "closed": 0,
        "held": 0,
        "open": 1,
        "busy": 0,
    }
    assert found["breaker_state", "gemini-2.5-flash", "held"] == 1


def test_budgets_are_shown_beside_their_limits(lived, settings):
    day = lived.om.costs("harold", 1).last
    for key in (lived.services.keys.spent(day), lived.services.keys.spent_by(day, "harold")):
        lived.client.hset(key, mapping={"all|calls": 9, "all|tokens": 500})
        lived.client.expire(key, 60)
    told = {
        "OM_BUDGET__CALLS_PER_DAY": "10",
        "OM_TOTAL_BUDGET__TOKENS_PER_DAY": "400",
        "OM_TOTAL_BUDGET__CALLS_PER_DAY": "0",
    }
    found = samples(locally(given(settings, **told)).text)
    budgets = {labels[1:]: value for labels, value in found.items() if labels[0] == "budget_used_ratio"}

    assert budgets == {
        ("harold", "budget.calls_per_day"): 0.9,
        ("ada", "budget.calls_per_day"): 0,
        ("(all)", "total_budget.tokens_per_day"): 1.25,
        ("(all)", "total_budget.calls_per_day"): 1,
    }


def test_quarantines_are_shown_of_each_of_others_and_of_nobody(lived, scrape):
    for name, entries in {"ada": 1, "stranger": 2, "unknown": 3}.items():
        lived.client.rpush(f"{lived.prefix}:{{{name}}}:rejected", *["?"] * entries)
    lived.client.zadd(f"{lived.prefix}:resources", {"ada": 1, "stranger": 1})
    found = scrape()

    assert {labels[1]: value for labels, value in found.items() if labels[0] == "quarantine_messages"} == {
        "harold": 0,
        "ada": 1,
        "(other)": 2,
        "unknown": 3,
    }


def test_queues_are_shown_and_a_broker_that_is_away_leaves_the_rest(lived, settings):
    away, no_redis = "redis://127.0.0.1:1/0", "sqs://127.0.0.1"
    here, gone, other = (
        samples(locally(given(settings, OM_BROKER_URL=url)).text) for url in (settings.redis_url, away, no_redis)
    )

    assert {labels[1] for labels in here if labels[0] == "queue_tasks"} == {
        "ticks",
        "observe",
        "reflect",
        "maintenance",
    }
    assert (here["broker_up",], gone["broker_up",]) == (1, 0)
    assert ("broker_up",) not in other
    assert {labels for labels in here if labels[0] not in {"queue_tasks", "broker_up"}} == other.keys()


def test_a_key_of_one_resource_is_told_what_to_use_instead(using):
    refused = using("operator", "harold")("GET", "/metrics")

    assert refused.status_code == 403
    assert "use one that is bound to *" in refused.json()["detail"]


def test_without_keys_this_machine_is_answered_and_a_browser_is_not(settings, client):
    with TestClient(make_app(settings, locked=False), base_url=LOCAL) as http:
        assert http.get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4")
        assert http.get("/metrics", headers={"Origin": "http://elsewhere.example"}).status_code == 403


def test_while_the_store_is_away_there_are_no_figures_and_afterwards_there_are(tmp_path, settings):
    with Server(tmp_path) as server:
        told = given(settings, OM_REDIS_URL=server.url)
        with TestClient(make_app(told, locked=False, timeout=0.5), base_url=LOCAL) as http:
            server.kill()
            away = http.get("/metrics")
            server.start()
            back = http.get("/metrics")

    assert (away.status_code, away.headers["content-type"]) == (503, "application/problem+json")
    assert samples(back.text)["workers",] == 0


def test_what_one_agent_writes_into_its_keys_hides_no_other_one(lived, scrape):
    lived.client.hset(f"{lived.prefix}:{{ada}}:tokens", "*", "many")
    lived.client.hset(f"{lived.prefix}:{{harold}}:record", "limits", '{"limits": {"message_threshold": 0}}')
    lived.client.zadd(f"{lived.prefix}:due:observe", {"ada": "-inf"})
    found = scrape()

    assert (found["unreadable_resources",], found["measured_resources",]) == (1, 2)
    assert found["observations_tokens", "harold"] > 0
    assert ("observations_tokens", "ada") not in found
    assert found["contexts_total", "ada"] == 0
    assert found["lag_seconds", "observe"] < 3_600


def test_a_process_says_that_it_lives_and_that_it_is_ready(app):
    assert [app.get(path).json() for path in ("/healthz", "/readyz")] == [{"status": "alive"}, {"status": "ready"}]
