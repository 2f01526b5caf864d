"""`om doctor` against servers that are ill in every way: each trouble is one line with its remedy."""

import json
import time

import pytest
from ports import reserve_port
from servers import BINARIES, Server
from world import SMALL, World

from om_api.archive.opening import open_archive
from om_api.store.archiving import archivable
from om_api.store.fleet import breaker, presence, webhook_queue, webhook_records
from om_api.store.fleet.presence import Ticked, Worker
from om_api.store.memory import due
from om_workers.process.heartbeat import Heartbeat
from om_workers.process.presence import Presence


@pytest.fixture(params=sorted(BINARIES))
def server(request, tmp_path):
    """A server of the test's own, which it may make ill."""
    with Server(tmp_path, "--appendonly", "yes", binary=BINARIES[request.param]) as own:
        yield own


@pytest.fixture
def client(server):
    with server.client() as own:
        yield own


@pytest.fixture
def well(here, client, prefix, monkeypatch):
    """A system that lacks nothing: an append-only file, a worker, ticks."""
    world = World(client, prefix)
    beat = Heartbeat(world.services.connection, presence=Presence(world.services.connection, world.services.keys))
    beat._presence.renew(30)
    now = world.services.run(due.server_ms())
    for name, interval in (("observer", 10), ("reflector", 30), ("webhooks", 5), ("sweep", 60)):
        world.services.run(presence.ticked(world.services.keys, name, Ticked(at=now, interval=interval)))
    monkeypatch.setenv("OM_MODEL", "extractive")
    return world


@pytest.fixture
def nowhere():
    """A port that nobody listens on."""
    return reserve_port()


@pytest.fixture
def doctor(bare, server, prefix, monkeypatch):
    """Run `om doctor --json` on the test's own server; its exit code, and its troubles and notes by what they are about."""
    for name, value in {**SMALL, "OM_PREFIX": prefix}.items():
        monkeypatch.setenv(name, value)

    def run(url=server.url):
        result = bare("--url", url, "doctor", "--json")
        found = [finding for finding in json.loads(result.stdout) if finding["level"] != "ok"]
        assert all(finding["do"] for finding in found)
        return result.exit_code, {finding["about"]: finding for finding in found}

    return run


def test_a_system_that_is_well_says_what_was_looked_at(well, doctor, bare, server):
    assert doctor() == (0, {})

    result = bare("--url", server.url, "doctor")
    assert result.exit_code == 0
    assert "all is well" in result.stderr
    about = {line.split()[1] for line in result.stdout.splitlines()}
    assert {"store", "server", "memory", "eviction", "disk", "clocks", "workers", "ticks", "lag", "broker"} <= about
    assert {line.split()[0] for line in result.stdout.splitlines()} == {"ok"}


def test_webhooks_that_are_disabled_and_deliveries_that_were_given_up_are_named(well, doctor, bare, server):
    run, keys = well.services.run, well.services.keys
    made = run(webhook_records.add(keys, "https://example.org/om", (), (), allow_private=False))
    run(webhook_queue.try_out(keys, made))
    assert doctor() == (0, {})
    assert "webhooks" in bare("--url", server.url, "doctor").stdout

    (tried,) = run(webhook_queue.due_now(keys, made.id, run(due.server_ms()), 9))
    run(webhook_queue.attempted(keys, made.id, tried, "dead", "answered 500"))
    code, found = doctor()
    assert (code, found["webhooks"]["says"]) == (1, f"1 delivery of {made.id} could not be made")
    assert f"om webhooks retry {made.id}" in found["webhooks"]["do"]

    run(webhook_queue.retry(keys, made.id))
    run(webhook_records.disable(keys, made, "its receiver answered 410 Gone"))
    code, found = doctor()
    assert (code, found["webhooks"]["says"]) == (1, f"{made.id} is disabled: its receiver answered 410 Gone")
    assert f"om webhooks enable {made.id}" in found["webhooks"]["do"]


def test_looking_leaves_nothing(well, doctor, client, prefix):
    before = set(client.keys(f"{prefix}*"))
    doctor()

    assert {*client.keys(f"{prefix}*")} - before <= {f"{prefix}:lock:doctor".encode()}
    assert client.pttl(f"{prefix}:lock:doctor") <= 1_000


@pytest.mark.parametrize(
    ("directive", "value", "about", "remedy"),
    [
        ("appendonly", "no", "disk", "appendonly yes"),
        ("appendfsync", "no", "disk", "appendfsync everysec"),
        ("maxmemory-policy", "allkeys-lru", "eviction", "noeviction"),
        ("maxmemory", "1", "memory", "raise maxmemory"),
    ],
)
def test_a_server_that_is_set_up_badly_is_named_with_the_remedy(well, doctor, client, directive, value, about, remedy):
    client.config_set(directive, value)
    code, found = doctor()

    assert code == 1
    assert remedy in found[about]["do"]


def test_a_full_server_and_a_replica_say_that_they_take_no_writes(well, doctor, client, nowhere):
    client.config_set("maxmemory", "1")
    assert "out of memory" in doctor()[1]["store"]["do"]

    client.config_set("maxmemory", "0")
    client.replicaof("127.0.0.1", nowhere)
    assert "point OM_REDIS_URL at the primary" in doctor()[1]["store"]["do"]
    assert "replica" in doctor()[1]["server"]["says"]


def test_a_server_that_is_away_and_one_with_another_password_are_exit_code_2(doctor, client, nowhere, server):
    code, found = doctor(f"redis://:s3cret@127.0.0.1:{nowhere}/0")
    assert (code, found["store"]["level"]) == (2, "error")
    assert "OM_REDIS_URL" in found["store"]["do"]
    assert "s3cret" not in str(found)

    client.config_set("requirepass", "s3cret")
    client.connection_pool.connection_kwargs["password"] = "s3cret"
    assert doctor()[0] == 2
    assert "password" in doctor()[1]["store"]["do"]
    code, found = doctor(server.url.replace("://", "://:wrong@"))
    assert (code, "password" in found["store"]["do"]) == (2, True)
    client.config_set("requirepass", "")


def test_what_may_not_be_asked_cannot_be_told(well, doctor, client, prefix, server):
    may = ["+@all", "-@admin", "-@dangerous"]
    client.acl_setuser("agent", enabled=True, passwords="+pw", keys=[f"{prefix}:*"], categories=may)
    code, found = doctor(server.url.replace("://", "://agent:pw@"))

    assert code == 0
    assert {about: finding["level"] for about, finding in found.items()} == {"server": "note", "broker": "note"}


def test_nobody_at_work_and_nothing_ticking_are_named(well, doctor, client, prefix):
    client.delete(*client.keys(f"{prefix}:lock:ticked:*"))
    assert "a beat runs" in doctor()[1]["ticks"]["do"]

    client.delete(*client.keys(f"{prefix}:lock:worker:*"))
    code, found = doctor()
    assert (code, found["workers"]["level"], "ticks" in found) == (1, "error", False)


def test_a_workers_clock_is_compared_with_the_servers(well, doctor):
    worker = Worker(name="far-1-x", host="far", pid=1, version="0.1.0")
    right = time.time

    with pytest.MonkeyPatch.context() as wrong:
        wrong.setattr(time, "time", lambda: right() - 7_200)
        well.services.run(presence.here(well.services.keys, worker))
    assert doctor()[1]["clocks"]["says"] == "worker far-1-x is 2 h behind the server"


def test_what_is_due_for_long_is_a_lag_and_what_was_made_urgent_just_now_is_none(well, doctor, client):
    well.services.run(due.mark(well.services.keys.due_observe, ["harold"], urgent=True))
    assert doctor() == (0, {})

    now = well.services.run(due.server_ms())
    client.zadd(well.services.keys.due_observe, {"albert": now - 300_000})
    assert "for 5 min" in doctor()[1]["lag"]["says"]
    client.zadd(well.services.keys.due_observe, {"albert": now - due.URGENT_MS - 600_000})
    assert "for 10 min" in doctor()[1]["lag"]["says"]


def test_a_queue_that_nobody_serves_is_named_while_it_is_empty(well, doctor, client, prefix):
    client.delete(*client.keys(f"{prefix}:lock:worker:*"))
    worker = Worker(name="w-1", host="h", pid=1, version="1", queues=("ticks", "reflect", "maintenance"))
    well.services.run(presence.here(well.services.keys, worker))
    code, found = doctor()

    assert (code, found["workers"]["says"]) == (1, "none of them serves the queue observe")


def test_a_broker_that_is_away_or_another_kind_is_said(well, doctor, nowhere, monkeypatch):
    monkeypatch.setenv("OM_BROKER_URL", f"redis://:s3cret@127.0.0.1:{nowhere}/0")
    code, found = doctor()
    assert (code, found["broker"]["level"]) == (1, "error")
    assert "OM_BROKER_URL" in found["broker"]["do"]
    assert "s3cret" not in str(found)

    monkeypatch.setenv("OM_BROKER_URL", f"amqp://guest:s3cret@127.0.0.1:{nowhere}")
    code, found = doctor()
    assert (code, found["broker"]["level"]) == (1, "error")
    assert "OM_BROKER_URL" in found["broker"]["do"]
    assert "s3cret" not in str(found)

    monkeypatch.setenv("OM_BROKER_URL", "sqs://")
    assert doctor()[1]["broker"]["level"] == "note"


def test_scope_quarantine_pause_overrides_and_models_are_named(well, doctor, client, monkeypatch, tmp_path):
    well.say(*[f"message {n}" for n in range(12)])
    well.settle()
    well.om.pause("harold")
    client.rpush(f"{well.prefix}:{{unknown}}:rejected", "{}")
    folder = tmp_path / "config"
    (folder / "agents" / "harold").mkdir(parents=True)
    (folder / "observational-memory.yaml").write_text("observational_memory: {model: gemini-2.5-flash, scope: thread}")
    (folder / "agents" / "harold" / "memory.yaml").write_text("observational_memory: {mesage_threshold: 5000}")
    monkeypatch.delenv("OM_MODEL")
    monkeypatch.setenv("OM_CONFIG_DIR", str(folder))

    code, found = doctor()

    assert code == 1
    assert "om migrate-scope harold --to thread" in found["scope"]["do"]
    assert "unknown" in found["quarantine"]["says"]
    assert (found["paused"]["level"], found["paused"]["says"]) == ("note", "harold")
    assert "memory.yaml" in found["settings"]["says"]
    assert "GEMINI_API_KEY is not set" in found["models"]["says"]


def test_a_model_that_is_passed_over_is_named_with_what_to_do(well, doctor):
    for _ in range(5):
        well.services.run(breaker.report(well.services.keys, breaker.Attempt("deepseek", "t", 60), "failed"))
    code, found = doctor()

    assert code == 1
    assert "deepseek is passed over" in str(found["models"])
    assert "mend key, address or network" in str(found["models"])


@pytest.mark.parametrize("key", ["", " "])
def test_a_name_without_an_entry_is_asked_for_at_openai_and_its_key_is_missed(well, doctor, monkeypatch, key):
    """Breaks when only keys that an entry names are looked for: all seems well while the extractive model answers."""
    monkeypatch.setenv("OM_MODEL", "gpt-4.1")
    monkeypatch.setenv("OPENAI_API_KEY", key)
    assert "OPENAI_API_KEY is not set" in doctor()[1]["models"]["says"]

    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    assert doctor() == (0, {})


def test_a_beat_that_has_not_ticked_yet_is_not_said_to_have_been_away_for_a_day(well, doctor, client, prefix):
    client.delete(*client.keys(f"{prefix}:lock:ticked:*"))

    found = doctor()[1]["ticks"]
    assert "on record" in found["says"]
    assert "if this has just begun" in found["do"]


def test_one_that_is_broken_is_named_and_hides_no_other(well, doctor, client, prefix):
    """Catches a writer whose key of another type had `om doctor` say that the store cannot be reached."""
    client.zadd(f"{prefix}:resources", {"ada": 1, "harold": 2})
    client.rpush(f"{prefix}:{{harold}}:rejected", "entry")
    client.set(f"{prefix}:{{ada}}:rejected", "oops")
    exit_code, found = doctor()

    assert exit_code == 1
    assert found["broken"]["says"] == "ada: keys hold what is not ours, all else was looked at"
    assert found["quarantine"]["says"] == "1 entry of harold"


def test_a_worker_that_goes_by_other_settings_than_the_command_line_sees_is_named(well, doctor, here, monkeypatch):
    """Catches settings that `om config show` calls in force and of which the workers know nothing."""
    presence_ = Presence(well.services.connection, well.services.keys, lambda: well.settings.fingerprint)
    presence_.renew(30)
    monkeypatch.delenv("OM_MODEL")
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    assert doctor() == (0, {})
    (here / "config").mkdir()
    (here / "config" / "observational-memory.yaml").write_text("observational_memory: {ttl_days: 7}")
    code, found = doctor()

    assert (code, found["settings"]["level"]) == (1, "warning")
    assert found["settings"]["says"].startswith(f"{presence_.worker.name}: other settings are in force there")
    assert "7" not in str(found["settings"]["do"])


def test_an_archive_that_answers_and_keeps_up_is_no_trouble(well, doctor, tmp_path, monkeypatch):
    monkeypatch.setenv("OM_ARCHIVE__URL", f"sqlite:///{tmp_path}/past.db")
    open_archive(f"sqlite:///{tmp_path}/past.db").prepare()

    assert doctor() == (0, {})


def test_one_that_does_not_answer_is_an_error_and_ends_no_look(well, doctor, tmp_path, monkeypatch):
    monkeypatch.setenv("OM_ARCHIVE__URL", f"sqlite:///{tmp_path}/nowhere/past.db")
    code, found = doctor()

    assert (code, found["archive"]["level"]) == (1, "error")
    assert "nothing is lost" in found["archive"]["do"]


def test_one_that_takes_nothing_says_since_when_and_why(well, doctor, tmp_path, monkeypatch):
    monkeypatch.setenv("OM_ARCHIVE__URL", f"sqlite:///{tmp_path}/past.db")
    open_archive(f"sqlite:///{tmp_path}/past.db").prepare()
    well.services.run(archivable.failed(well.services.keys, "the disk is full"))
    code, found = doctor()

    assert code == 1
    assert "nothing was archived for" in found["archive"]["says"]
    assert "the disk is full" in found["archive"]["says"]


def test_a_backend_of_sql_is_told_what_it_means(well, doctor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OM_STORAGE__BACKEND", "sqlite")
    _, found = doctor()

    assert found["storage"]["level"] == "note"
    assert "Redis stays the hot store" in found["storage"]["says"]
