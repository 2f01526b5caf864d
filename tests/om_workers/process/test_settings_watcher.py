"""A worker goes on with everybody else while one agent's file is bad, and says so once."""

import threading
from functools import cache

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.domain.errors import StoreError
from om_api.settings.stored_layers import StoredTexts
from om_workers.process import settings_watcher
from om_workers.tasks import ticks, wiring

BOMB = "[&b0 [x], {}]".format(", ".join(f"&b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 9)))
BASE = "observational_memory: {message_threshold: 1000, min_recent_messages: 0, tokenizer: estimate}"


@pytest.fixture
def house(client, prefix, tmp_path, monkeypatch):
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


def test_while_the_store_is_away_what_it_said_last_holds(house, monkeypatch):
    said = StoredTexts("d", {"albert": b"observational_memory: {message_threshold: 2000}"})
    answers = [said, StoreError("it is away"), StoreError("it is away")]

    def read(known):
        answer = answers.pop(0)
        if isinstance(answer, StoreError):
            raise answer
        return answer

    watcher = settings_watcher.SettingsWatcher(house.settings, read)
    for _ in range(3):
        watcher.look()
    assert house.settings.for_agent("albert").message_threshold == 2000
    assert answers == []


def test_who_comes_while_another_one_waits_for_the_store_goes_on(house):
    """Catches all threads of a worker that wait for one store that hangs."""
    asked, may = threading.Event(), threading.Event()

    def hang(known):
        asked.set()
        may.wait(30)
        return known

    watcher = settings_watcher.SettingsWatcher(house.settings, hang)
    first = threading.Thread(target=watcher.look)
    first.start()
    asked.wait(30)
    second = threading.Thread(target=watcher.look)
    second.start()
    second.join(5)
    went_on = not second.is_alive()
    may.set()
    first.join(30)
    assert went_on
