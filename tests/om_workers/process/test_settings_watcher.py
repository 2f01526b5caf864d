"""A worker goes on with everybody else while one agent's file is bad, and says so once."""

from functools import cache

import pytest
from structlog.testing import capture_logs
from world import World

from om_workers.process import settings_watcher
from om_workers.tasks import ticks, wiring

BOMB = "[&b0 [x], {}]".format(", ".join(f"&b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 9)))
BASE = "observational_memory: {message_threshold: 1000, min_recent_messages: 0, tokenizer: estimate}"


@pytest.fixture
def house(client, prefix, tmp_path, monkeypatch):
    """A world whose settings are files, and this process' services are its."""
    (tmp_path / "observational-memory.yaml").write_text(BASE)
    world = World(client, prefix, config_dir=tmp_path)
    monkeypatch.setattr(wiring, "settings", lambda: world.settings)
    monkeypatch.setattr(wiring, "_services", cache(lambda: world.services))
    monkeypatch.setattr(settings_watcher, "EVERY_S", 0.0)
    monkeypatch.setattr(ticks, "_TASK_S", 0)  # each task does its own scope alone
    _watch(monkeypatch, world.settings)
    return world


def _watch(monkeypatch, settings):
    watcher = settings_watcher.SettingsWatcher(settings)
    monkeypatch.setattr(wiring, "_watcher", lambda: watcher)


def _write(tmp_path, name, text):
    file = tmp_path / "agents" / name / "memory.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"observational_memory: {{{text}}}")
    return file


@pytest.mark.parametrize("text", ["model: &a [*a]", f"model: {BOMB}"])
def test_a_bad_file_holds_up_nobodys_observation_and_is_said_once(house, tmp_path, text):
    """Catches a task of one agent that fails, or waits, for what stands in another agent's file."""
    file = _write(tmp_path, "evil", text)
    _write(tmp_path, "albert", "message_threshold: 2000")
    house.say(*[f"message {n}" for n in range(8)], resource="albert")
    house.say(*[f"message {n}" for n in range(8)], resource="evil")
    with capture_logs() as lines:
        outcomes = [ticks.observe(name) for name in ("albert", "evil")]

    assert outcomes == ["buffered", "buffered"]
    assert house.om.stats("albert").message_threshold == 2000
    assert [line["file"] for line in lines if line["event"] == "settings_problem"] == [str(file)]


def test_a_file_that_stays_bad_makes_nothing_known_to_every_memory(house, tmp_path):
    """Catches a bad file that has all memories looked at, as often as it is touched."""
    _write(tmp_path, "evil", "model: [")
    wiring.services()
    since = wiring._watcher().since
    _write(tmp_path, "evil", "ttl_days: never")
    with capture_logs() as lines:
        wiring.services()
        wiring.services()

    assert wiring._watcher().since == since
    assert [line["event"] for line in lines] == ["settings_changed", "settings_problem"]


def test_what_is_bad_from_the_start_is_said_too(house, tmp_path, monkeypatch):
    file = _write(tmp_path, "evil", "model: [")
    started = World(house.client, house.prefix, config_dir=tmp_path).settings
    _watch(monkeypatch, started)
    with capture_logs() as lines:
        wiring.services()

    assert [line.get("file") for line in lines] == [None, str(file)]


def test_since_when_settings_are_in_force_is_known(house, tmp_path):
    """Catches a change that no memory hears of."""
    wiring.services()
    since = wiring._watcher().since
    _write(tmp_path, "albert", "message_threshold: 2000")
    wiring.services()

    assert wiring._watcher().since > since
