"""`om doctor` against servers that are ill in every way: each trouble is one line with its remedy."""

import json
import os
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from ports import reserve_port
from servers import BINARIES, Server
from world import SMALL, World

from om_api.archive.opening import open_archive
from om_api.cli.commands.doctor import running_role
from om_api.store.fleet import presence
from om_api.store.fleet.presence import Ticked
from om_api.store.memory import due
from om_workers.process.heartbeat import Heartbeat
from om_workers.process.presence import Presence


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("doctor"), "--appendonly", "yes", binary=BINARIES["embedded"]) as own:
        yield own


@pytest.fixture
def client(server):
    with server.client() as own:
        yield own
        own.config_set("requirepass", "")
        own.flushall()


@pytest.fixture
def well(here, client, prefix, monkeypatch):
    world = World(client, prefix)
    beat = Heartbeat(world.services.connection, presence=Presence(world.services.connection, world.services.keys))
    beat._presence.renew(30)
    now = world.services.run(due.server_ms())
    for name, interval in (("observer", 10), ("reflector", 30), ("webhooks", 5), ("sweep", 60)):
        world.services.run(presence.ticked(world.services.keys, name, Ticked(at=now, interval=interval)))
    monkeypatch.setenv("OM_MODEL", "extractive")
    return world


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


def test_a_system_that_is_well_says_what_was_looked_at_and_looking_leaves_nothing(well, doctor, bare, server, prefix):
    before = set(well.client.keys(f"{prefix}*"))
    assert doctor() == (0, {})
    assert {*well.client.keys(f"{prefix}*")} - before <= {f"{prefix}:lock:doctor".encode()}
    assert well.client.pttl(f"{prefix}:lock:doctor") <= 1_000
    result = bare("--url", server.url, "doctor")
    assert (result.exit_code, "all is well" in result.stderr) == (0, True)
    about = {line.split()[1] for line in result.stdout.splitlines()}
    assert {"store", "server", "memory", "eviction", "disk", "clocks", "workers", "ticks", "lag", "broker"} <= about
    assert {line.split()[0] for line in result.stdout.splitlines()} == {"ok"}


def test_a_server_that_is_away_full_or_has_another_password_is_exit_code_1_or_2_and_what_may_not_be_asked_a_note(
    well, doctor, client, server, prefix
):
    code, found = doctor(f"redis://:s3cret@127.0.0.1:{reserve_port()}/0")
    assert (code, found["store"]["level"], "OM_REDIS_URL" in found["store"]["do"]) == (2, "error", True)
    assert "s3cret" not in str(found)
    client.config_set("requirepass", "s3cret")
    client.connection_pool.connection_kwargs["password"] = "s3cret"
    for url in (server.url, server.url.replace("://", "://:wrong@")):
        code, found = doctor(url)
        assert (code, "password" in found["store"]["do"]) == (2, True), url
    client.config_set("requirepass", "")
    client.config_set("maxmemory", "1")
    code, found = doctor()
    client.config_set("maxmemory", "0")
    assert (code, "raise maxmemory" in found["memory"]["do"], "out of memory" in str(found["store"])) == (1, True, True)
    may = ["+@all", "-@admin", "-@dangerous"]
    client.acl_setuser("agent", enabled=True, passwords="+pw", keys=[f"{prefix}:*"], categories=may)
    code, found = doctor(server.url.replace("://", "://agent:pw@"))
    assert (code, {about: each["level"] for about, each in found.items()}) == (
        0,
        {"server": "note", "compose": "note", "broker": "note"},
    )


def test_a_broker_that_is_away_or_another_kind_is_said(well, doctor, monkeypatch):
    for url in ("redis://:s3cret@127.0.0.1:{}/0", "amqp://guest:s3cret@127.0.0.1:{}"):
        monkeypatch.setenv("OM_BROKER_URL", url.format(reserve_port()))
        code, found = doctor()
        assert (code, found["broker"]["level"], "OM_BROKER_URL" in found["broker"]["do"]) == (1, "error", True), url
        assert "s3cret" not in str(found), url
    monkeypatch.setenv("OM_BROKER_URL", "sqs://")
    assert doctor()[1]["broker"]["level"] == "note"


def test_scope_quarantine_broken_keys_pause_and_overrides_are_named(well, doctor, client, monkeypatch, tmp_path):
    """Catches a writer whose key of another type had `om doctor` say that the store cannot be reached."""
    well.say(*[f"message {n}" for n in range(12)])
    well.settle()
    well.om.pause("harold")
    client.rpush(f"{well.prefix}:{{unknown}}:rejected", "{}")
    client.zadd(f"{well.prefix}:resources", {"ada": 1})
    client.set(f"{well.prefix}:{{ada}}:rejected", "oops")
    folder = tmp_path / "config"
    (folder / "agents" / "harold").mkdir(parents=True)
    (folder / "observational-memory.yaml").write_text("observational_memory: {scope: thread}")
    (folder / "agents" / "harold" / "memory.yaml").write_text("observational_memory: {mesage_threshold: 5000}")
    monkeypatch.setenv("OM_CONFIG_DIR", str(folder))
    code, found = doctor()
    assert code == 1
    assert "om migrate-scope harold --to thread" in found["scope"]["do"]
    assert "unknown" in found["quarantine"]["says"]
    assert found["broken"]["says"] == "ada: keys hold what is not ours, all else was looked at"
    assert (found["paused"]["level"], found["paused"]["says"]) == ("note", "harold")
    assert "memory.yaml" in found["settings"]["says"]


def test_a_worker_that_goes_by_other_settings_than_the_command_line_sees_is_named(well, doctor, here, monkeypatch):
    """Catches settings that `om config show` calls in force and of which the workers know nothing."""
    other = Presence(well.services.connection, well.services.keys, lambda: well.settings.fingerprint)
    other.renew(30)
    monkeypatch.delenv("OM_MODEL")
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    assert doctor() == (0, {})
    (here / "config").mkdir()
    (here / "config" / "observational-memory.yaml").write_text("observational_memory: {ttl_days: 7}")
    code, found = doctor()
    assert (code, found["settings"]["level"]) == (1, "warning")
    assert found["settings"]["says"].startswith(f"{other.worker.name}: other settings are in force there")


def test_an_archive_that_is_away_is_named_and_a_backend_of_sql_explained(well, doctor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OM_ARCHIVE__URL", f"sqlite:///{tmp_path}/nowhere/past.db")
    code, found = doctor()
    assert (code, found["archive"]["level"], "nothing is lost" in found["archive"]["do"]) == (1, "error", True)
    monkeypatch.setenv("OM_ARCHIVE__URL", f"sqlite:///{tmp_path}/past.db")
    open_archive(f"sqlite:///{tmp_path}/past.db").prepare()
    assert doctor() == (0, {})
    monkeypatch.setenv("OM_STORAGE__BACKEND", "sqlite")
    storage = doctor()[1]["storage"]
    assert (storage["level"], "Redis stays the hot store" in storage["says"]) == ("note", True)


def test_health_finds_role_and_port_by_the_command_line():
    for line, role, port in (
        ("python /usr/local/bin/celery -A om_workers.app worker --without-gossip", "worker", None),
        ("celery -A om_workers.app flower --port=5556", "flower", 5556),
        ("/usr/local/bin/python /usr/local/bin/om api --port 9000", "api", 9000),
        ("om health api-x", None, None),
    ):
        assert running_role([["sh", "-c", line], line.split()]) == (role, port), line


def test_health_says_why_a_process_is_unhealthy(bare, tmp_path, monkeypatch):
    """A beat touches its file every ten seconds; no process listens at the API's port."""
    monkeypatch.setenv("OM_API_PORT", str(reserve_port()))
    monkeypatch.setenv("OM_BEAT_FILE", str(tmp_path / "beat"))
    for seconds, code, says in ((None, 1, "does not exist"), (120, 1, "120 s ago"), (5, 0, "beat: healthy")):
        if seconds is not None:
            (tmp_path / "beat").touch()
            os.utime(tmp_path / "beat", (time.time() - seconds,) * 2)
        result = bare("health", "beat")
        assert (result.exit_code, says in result.stderr) == (code, True), seconds
    refused = bare("health", "api")
    assert (refused.exit_code, "refused" in refused.stderr) == (1, True)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.handle_request).start()
        answered = bare("health", "flower", "--port", str(server.server_port))
    assert (answered.exit_code, "/healthcheck with 501" in answered.stderr) == (1, True)
    for pinged in (0, 69):
        monkeypatch.setattr(subprocess, "run", lambda *_, code=pinged, **__: subprocess.CompletedProcess([], code))
        assert bare("health", "worker").exit_code == bool(pinged)
