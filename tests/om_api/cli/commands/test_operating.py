"""Commands of operators: events, costs, models, hooks, keys, queues, pages, MCP."""

import io
import re
import time

import msgspec
import pytest
import redis
from click.testing import CliRunner
from hook_house import hooks_installed
from key_ring import KeyRing
from ports import reserve_port
from trial_worker import READY, answering
from world import World

from om_api import load_settings
from om_api.cli.group import main
from om_api.domain.api_keys import Token
from om_api.domain.errors import ModelError
from om_api.domain.events import Event
from om_api.store.driver.connection import Connection
from om_api.store.fleet import event_stream, presence, webhook_records
from om_api.store.fleet.presence import Ticked
from om_api.store.memory.keys import Keys
from om_workers.calls.ledger import Ledger
from om_workers.llm.base import Usage
from om_workers.process.presence import Presence


@pytest.fixture
def publish(world):
    def tell(*kinds, resource="harold", **fields):
        told = [Event(kind=kind, resource=resource, **fields) for kind in kinds]
        world.services.run(event_stream.publish(world.services.keys, told, None, 0))

    return tell


def test_events_are_picked_by_resource_and_kind_and_end_with_the_newest(om, publish):
    publish("sealed", "buffered", "sealed")
    publish("sealed", resource="albert")
    assert [line.split()[2:4] for line in om("events", "harold", "--kind", "sealed").stdout.splitlines()] == [
        ["harold", "sealed"]
    ] * 2
    assert "albert" in om("events", "--count", "1").stdout


PRICES = {"OM_MODELS__PRICED__PRICES": "{input: 1, cached: 0.1, output: 4}", "OM_OBSERVER_MODEL": "priced"}


@pytest.fixture
def spent(client, prefix, monkeypatch):
    """A world in which harold's model was called twice, under settings that the command line shares."""

    def make(**changed):
        named = {f"OM_{name.upper()}": value for name, value in changed.items()}
        for name, value in {**PRICES, **named}.items():
            monkeypatch.setenv(name, value)
        lowered = {name.removeprefix("OM_").lower(): value for name, value in {**PRICES, **named}.items()}
        world = World(client, prefix, **lowered)
        world.say("hello")
        world.context()
        world.om.close()
        book = Ledger(world.settings, world.services.connection, world.services.keys, world.services.events)
        for _ in range(2):
            entry = book.open("harold", "observe", "priced", 100)
            book.close(entry, Usage(input=1_000, cached=600, output=200))
        return world

    return make


def test_costs_are_a_table_by_day_model_and_purpose(om, spent):
    spent()
    shown = om("costs", "harold")
    assert shown.exit_code == 0
    assert " ".join(shown.stdout.split("in all")[0].split()[-9:]).endswith("priced observe 2 0 2,000 60% 400 0.0025")
    assert "raw history, uncached" in shown.stdout
    assert "raw history, provider-cached" in shown.stdout
    assert "name the agent's own model in actor_model" in shown.stderr


def test_the_costliest_agents_are_a_table_with_what_is_left_of_their_budgets(om, om_json, spent):
    spent(budget__dollars_per_day="0.01")
    shown = om("costs", "--by", "agent")
    assert " ".join(shown.stdout.split()).count("harold 2 2,000 400 0.0025") == 1
    assert "25%" in shown.stdout
    assert om_json("costs", "--by", "agent", "harold")["agents"][0]["calls"] == 2
    assert om("costs", "--by", "agent", "--days", "40").exit_code == 2


def test_models_are_listed_with_their_prices_and_who_uses_them(om, om_json):
    found = {each["name"]: each for each in om_json("models", "list")}
    assert found["gemini-2.5-flash"]["prices"]["input"] > 0
    assert {use["role"] for use in found["gemini-2.5-flash"]["used_by"]} == {"observer", "reflector"}
    assert "everybody else as observer" in " ".join(om("models", "list").stdout.split())


def test_a_model_that_is_tried_says_what_its_answer_took_or_why_there_is_none(om, om_json, world):
    with answering(world, READY, READY):
        found = om_json("models", "try", "gemini-2.5-flash")
        shown = om("models", "try", "gemini-2.5-flash")
    assert (found["outcome"], found["input"], found["output"], found["text"]) == ("answered", 48, 2, "ready")
    assert found["cost"] > 0
    assert (shown.exit_code, "answered" in shown.stdout, "0.0000" in shown.stdout) == (0, True, True)
    with answering(world, ModelError("gemini-2.5-flash refused (401): check GEMINI_API_KEY")):
        result = om("models", "try", "gemini-2.5-flash")
    assert (result.exit_code, "failed" in result.stdout) == (1, True)
    assert "check GEMINI_API_KEY" in result.stderr


@pytest.fixture
def house(monkeypatch, om):
    listed = {
        "HOOKS__BEFORE_OBSERVE": [
            {"entry_point": "calm"},
            {"entry_point": "gone", "on_failure": "stop", "timeout": 90 / 60},
        ],
        "HOOKS__AFTER_REFLECT": [{"url": "https://hooks.example.org/secret-path", "secret_env": "OM_SECRET_HOOK"}],
    }
    for name, value in listed.items():
        monkeypatch.setenv(f"OM_{name}", msgspec.json.encode(value).decode())
    with hooks_installed(monkeypatch) as one:
        one.install(calm=lambda given: {"messages": [{**each, "content": "calm"} for each in given["messages"]]})
        yield one


def test_hooks_are_listed_with_where_they_run_and_whether_they_are_here(om, om_json, house):
    rows = om_json("hooks", "list", "harold")
    assert [(each["point"], each["name"], each["ready"], each["failures"]) for each in rows] == [
        ("before_observe", "calm", True, 0), ("before_observe", "gone", False, 0),
        ("after_reflect", "hooks.example.org", False, 0)]  # fmt: skip
    told = om("hooks", "list", "harold").stdout
    assert "1.5s" in told
    assert ("ready" in told, "here" in told) == (True, False)
    assert "secret-path" not in told


def test_trying_shows_what_each_changes_and_fails_where_one_does(om, om_json, house):
    tried = om("hooks", "try", "harold", "before_observe")
    assert tried.exit_code == 1
    assert "calm" in tried.stdout
    assert "missing" in tried.stdout
    assert "Error" not in tried.stdout
    house.install(gone=lambda _: None)
    calm, gone = om_json("hooks", "try", "harold", "before_observe")
    assert [each["content"] for each in calm["changes"]["messages"]] == ["calm"]
    assert (gone["hook"], gone["changes"], gone["failed"]) == ("gone", {}, "")


TOKEN = re.compile(r"om_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")


@pytest.fixture
def ring(client, prefix):
    return KeyRing(load_settings(environ={"OM_PREFIX": prefix}), client=client)


def test_a_token_is_all_that_is_printed_and_it_opens_what_was_said(om, ring):
    made = om("keys", "create", "--resource", "harold", "--resource", "albert", "--role", "writer")
    key = ring.recognise(made.stdout.strip())
    assert TOKEN.fullmatch(made.stdout.strip())
    assert (key.role, key.resources) == ("writer", ("albert", "harold"))
    assert "only time it is shown" in made.stderr


def test_a_revoked_key_opens_nothing_and_cannot_be_revoked_again_and_a_rotated_key_has_another_token(om, om_json, ring):
    made = om_json("keys", "create", "--resource", "harold", "--role", "reader")
    assert om("keys", "revoke", made["id"]).stdout == "cleared\n"
    assert ring.recognise(made["token"]) is None
    again = om("keys", "revoke", made["id"])
    assert (again.exit_code, "om keys list" in again.stderr) == (1, True)
    for grace, known in [((), False), (("--grace", "1h"), True)]:
        made = om_json("keys", "create", "--resource", "harold", "--role", "reader")
        token = om("keys", "rotate", made["id"], *grace).stdout.strip()
        assert ring.recognise(token).id == made["id"], (grace, known)
        assert (ring.recognise(made["token"]) is not None) == known, (grace, known)


def test_keys_revoke_lists_the_webhooks_that_the_key_made(om, om_json, client, prefix):
    made, store = om_json("keys", "create", "--resource", "harold", "--role", "operator"), Connection(client)
    hook, _ = (
        store.run(
            webhook_records.add(Keys(prefix), "https://example.org/om", [], ["harold"], allow_private=True, by=by)
        )
        for by in (made["id"], "")
    )
    revoked = om("keys", "revoke", made["id"])
    assert (revoked.stdout, revoked.stderr.count("om webhooks remove")) == ("cleared\n", 1)
    assert f"om webhooks remove {hook.id}" in revoked.stderr


def test_what_no_key_can_be_is_refused(om, ring):
    for words in (*("--role reader", "--resource harold --role king", "--resource a*b --role reader"),
                  *("--resource x --role reader --expires soon", "--resource x --role reader --expires 0.1s"),
                  *("--resource x --role reader --rate often", f"--resource x --role reader --label {'x' * 41}"),
                  "--resource x --role writer --push-messages -1"):  # fmt: skip
        assert om("keys", "create", *words.split()).exit_code == 2, words
    assert om("keys", "rotate", "nobody", "--grace", "soon").exit_code == 2
    assert ring.list() == []


FULL = ("--label", "shop", "--expires", "30d", "--rate", "60/m")


def test_keys_are_listed_with_lifetime_use_and_rate_and_without_anything_that_opens(om, om_json, ring):
    made = om_json("keys", "create", "--resource", "harold", "--role", "writer", *FULL)
    om_json("keys", "create", "--resource", "harold", "--role", "reader")
    ring.use(made["id"])
    second, first = sorted(om_json("keys", "list"), key=lambda key: key["label"])
    shown = om("keys", "list")
    _, head, *rows = shown.stdout.splitlines()
    (row,) = [row for row in rows if "shop" in row]
    assert (first["label"], first["rate"], first["expires"]) == ("shop", "60/m", made["expires"])
    assert first["last_used"]
    assert [second[name] for name in ("label", "rate", "expires", "last_used")] == ["", None, None, None]
    assert head.split() == ["id", "label", "role", "resources", "expires", "last", "used", "rate"]
    assert re.split(r"\s{2,}", row.strip())[1:4] == ["shop", "writer", "harold"]
    assert re.search(r"in \d+d +\d+s ago +60/m$", row.strip())
    words = (Token.parse(made["token"]).secret, *(key.hash for key in ring.list()))
    assert not [word for word in words if word in f"{first} {second} {shown.output}"]


@pytest.fixture
def broker(server_url, prefix, monkeypatch):
    url = server_url.rsplit("/", 1)[0] + f"/{1 + abs(hash(prefix)) % 15}"
    monkeypatch.setenv("OM_BROKER_URL", url)
    with redis.Redis.from_url(url) as queues:
        queues.delete("ticks", "observe", "reflect", "maintenance", "unacked")
        yield queues
        queues.delete("observe", "unacked")


def test_queues_indexes_ticks_and_workers_are_shown_together(om, om_json, world, broker):
    now, run = int(time.time() * 1000), world.services.run
    broker.lpush("observe", "task", "task")
    broker.hset("unacked", "tag", "task")
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": now - 9_000, "albert": now + 60_000})
    run(presence.ticked(world.services.keys, "observer", Ticked(at=now - 4_000, interval=10)))
    worker = Presence(world.services.connection, world.services.keys)
    worker.serve(["reflect", "observe"], 32)
    worker.renew(30)
    found = om_json("queues")
    queues = {"ticks": (0, 0), "observe": (2, 1), "reflect": (0, 1), "maintenance": (0, 0)}
    assert {each["name"]: (each["tasks"], each["workers"]) for each in found["queues"]} == queues
    assert found["unacked"] == 1
    observe = found["due"][0]
    assert (observe["name"], observe["due"], observe["waiting"]) == ("observe", 1, 1)
    assert 9 <= observe["oldest"] < 600
    ticks = {tick["name"]: tick["interval"] for tick in found["ticks"]}
    assert ticks == {"observer": 10, "reflector": None, "webhooks": None, "sweep": None}
    assert found["workers"][0]["queues"] == ["observe", "reflect"]
    assert "observe, reflect" in om("queues").stdout


def test_a_broker_that_cannot_be_asked_is_said_and_the_rest_is_shown(om, world, monkeypatch):
    for broker, says in (("sqs://", "neither Redis nor RabbitMQ"), ("amqp://om:s3cret@127.0.0.1:1//", "OM_BROKER_URL")):
        monkeypatch.setenv("OM_BROKER_URL", broker)
        result = om("queues")
        assert result.exit_code == 0
        assert says in result.stderr
        assert "s3cret" not in result.stderr
        assert "observer" in result.stdout


def test_it_opens_the_pages_of_the_port_that_the_environment_names(monkeypatch):
    asked, opened = [], []

    def alive(address, **_):
        return asked.append(address) or io.BytesIO(b'{"status":"alive"}')

    monkeypatch.setattr("urllib.request.urlopen", alive)
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    said = CliRunner().invoke(main, ["ui"], env={"OM_API_PORT": "8123"})
    assert (said.exit_code, said.stdout.strip()) == (0, "http://127.0.0.1:8123/ui")
    assert (asked, opened) == (["http://127.0.0.1:8123/healthz"], ["http://127.0.0.1:8123/ui"])


def test_where_nothing_answers_it_says_what_to_start():
    said = CliRunner().invoke(main, ["ui", "--print", "--port", str(reserve_port())])
    assert said.exit_code == 1
    assert "start one with `om up`, or with `om api`" in said.stderr
