"""The settings of a process: where they are loaded from, and how they change while it runs."""

import threading
from pathlib import Path

import pytest
import structlog
import yaml
from configured import ROOT, Folder, om
from structlog.testing import capture_logs

from om_api import ObservationalMemory
from om_api.domain.errors import SettingsError
from om_api.settings import MemorySettings, load_settings
from om_api.settings.catalogue import SETTINGS


def test_the_shipped_file_says_what_is_built_in():
    shipped, built_in = (load_settings(ROOT / "config", {}),
                         load_settings(environ={}, config_dir=ROOT / "config" / "agents"))  # fmt: skip
    assert shipped.memory == built_in.memory == MemorySettings()
    assert shipped.models == built_in.models
    assert shipped.redis_url == built_in.redis_url == "redis://127.0.0.1:6379/0"
    assert shipped.problems == ()


def test_the_shipped_file_states_every_setting_in_order():
    stated = yaml.safe_load((ROOT / "config" / "observational-memory.yaml").read_text())["observational_memory"]

    def walk(data, path=()):
        for key, value in data.items():
            yield from walk(value, (*path, key)) if isinstance(value, dict) and value else [(*path, key)]

    assert list(walk(stated)) == list(SETTINGS)


def test_a_client_warns_once_of_unknown_variables_and_goes_on(tmp_path, monkeypatch, server_url):
    environ = {"OM_REDIS_URL": server_url, "OM_TULIP": "1", "OM_TIMEZON": "UTC", "OM_MODELS__MINE__MODEL": "x"}
    for name, text in environ.items():
        monkeypatch.setenv(name, text)
    monkeypatch.chdir(tmp_path)
    structlog.configure()
    with capture_logs() as lines:
        for _ in range(2):
            ObservationalMemory().close()
    structlog.reset_defaults()
    warned = "OM_TIMEZON (did you mean OM_TIMEZONE?)", "OM_TULIP"
    assert [(line["event"], *line["variables"]) for line in lines] == [("unknown_variables_ignored", *warned)]
    with pytest.raises(SettingsError, match=r"(?s)OM_TIMEZON: .*OM_TULIP: "):
        load_settings()


def test_the_folder_is_the_argument_else_the_variable_else_config_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, threshold in (("config", 5_000), ("other", 6_000), ("third", 7_000)):
        Folder(tmp_path / name).settings(f"message_threshold: {threshold}")
    assert load_settings(environ={}).memory.message_threshold == 5_000
    assert load_settings(environ={"OM_CONFIG_DIR": "other"}).memory.message_threshold == 6_000
    assert load_settings(Path("third"), {"OM_CONFIG_DIR": "other"}).memory.message_threshold == 7_000


def test_a_folder_that_nobody_named_is_taken_up_when_it_appears(tmp_path, monkeypatch):
    """Catches a worker that goes on without ./config, which is in force for every command."""
    monkeypatch.chdir(tmp_path)
    settings, here = load_settings(environ={}), Folder(tmp_path / "config")
    here.agent("harold", om("ttl_days: 6"))
    assert (settings.refresh(), settings.for_agent("harold").ttl_days) == (True, 6)
    here.settings("ttl_days: 5")
    assert (settings.refresh(), settings.memory.ttl_days, settings.for_agent("harold").ttl_days) == (True, 5, 6)


def test_a_base_that_is_a_link_to_nothing_is_said(tmp_path, monkeypatch):
    """Catches defaults that are in force without a word, for a file that everybody sees."""
    monkeypatch.chdir(tmp_path)
    Path("config").mkdir()
    Path("config/observational-memory.yaml").symlink_to("gone.yaml")
    for named in ("config", None):
        with pytest.raises(SettingsError, match=r"cannot be read: it is a link to gone\.yaml, which is not there"):
            load_settings(named, {})


BROKEN = """
observational_memory:
  buffer_tokens: 40000
  ttl_days: never
  message_threshold: 100000
  model: mine
  storage: {redis: {prefix: ours}}
models: {mine: {provider: openai}, other: {nonsense: 1}}
"""


def test_of_a_broken_base_what_can_be_in_force_is_where_somebody_only_looks(folder):
    file = folder.base(BROKEN)
    folder.agent("harold", om("ttl_days: 6"))
    folder.agent("albert", om("ttl_days: never"))
    settings = load_settings(folder.path, {"OM_MAX_REFLECTIONS": "7"}, strict=False)
    memory = settings.memory
    assert (memory.ttl_days, memory.buffer_size, memory.max_reflections, settings.prefix) == (90, 40_000, 7, "ours")
    assert (memory.model, max(settings.models)) == ("mine", "mine")
    assert settings.for_agent("harold").ttl_days == 6
    assert [Path(problem.file).parent.name for problem in settings.problems] == [file.parent.name, "albert"]
    assert [(each.file, each.text[:17]) for each in settings.mistakes()][:2] == [
        (str(file), "line 4: ttl_days "), (str(file), "line 8: models.ot")]  # fmt: skip


def test_a_store_that_is_not_known_is_an_error_for_everybody(folder):
    """Catches a message that is pushed to the default server, for the file that names another one is broken."""
    for redis in ["port: 0", "password_env: PW", "hots: red"]:
        folder.settings(f"ttl_days: 5, storage: {{redis: {{{redis}}}}}")
        with pytest.raises(SettingsError, match=r"storage\.redis"):
            load_settings(folder.path, {}, strict=False)


def test_a_base_that_contradicts_an_override_leaves_that_agent_as_it_was(folder):
    folder.settings("message_threshold: 20000")
    folder.agent("harold", om("buffer_tokens: 9000"))
    settings = folder.load()
    folder.settings("message_threshold: 5000")
    settings.refresh()
    assert (settings.memory.message_threshold, settings.for_agent("harold").message_threshold) == (5_000, 20_000)
    assert len(settings.problems) == 1


def test_readers_never_see_half_of_a_change(folder):
    folder.settings("message_threshold: 1000, observation_threshold: 1000")
    settings = folder.load()
    torn, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            memory = settings.for_agent("harold")
            torn.extend([memory] if memory.message_threshold != memory.observation_threshold else [])

    reader = threading.Thread(target=read)
    reader.start()
    for threshold in range(1_000, 1_020):
        folder.settings(f"message_threshold: {threshold}, observation_threshold: {threshold}")
        settings.refresh()
    stop.set()
    reader.join()
    assert (torn, settings.memory.message_threshold) == ([], 1_019)


def test_overrides_appear_change_break_are_mended_and_disappear(folder):
    settings, seen = folder.load(), []
    for text in (om("ttl_days: 6"), om("ttl_days: 7"), om("ttl_days: never"), om("ttl_days: 8"), None):
        file = folder.agent("harold", text or "")
        if text is None:
            file.unlink()
        changed = settings.refresh()
        told = [(problem.file == str(file), problem.text[:16]) for problem in settings.problems]
        seen.append((changed, settings.for_agent("harold").ttl_days, len(settings.agents()), told))
    assert seen == [(True, 6, 1, []), (True, 7, 1, []), (False, 7, 1, [(True, "line 1: ttl_days")]), (True, 8, 1, []),
                    (True, 90, 0, [])]  # fmt: skip


def test_a_broken_base_leaves_the_last_good_one_in_force_until_it_is_mended(folder):
    for days, breakage in enumerate(("a: [", "observational_memory: {ttl_days: never}", None), start=5):
        file = folder.settings(f"ttl_days: {days}")
        settings = folder.load()
        file.unlink() if breakage is None else folder.base(breakage)
        folder.agent("albert", om(f"message_threshold: {days}000"))
        assert settings.refresh() is True, breakage
        assert (settings.memory.ttl_days, settings.for_agent("albert").ttl_days) == (days, days), breakage
        assert settings.for_agent("albert").message_threshold == days * 1_000, breakage
        assert [problem.file for problem in settings.problems] == [str(file)], breakage
        folder.settings("ttl_days: 20")
        assert (settings.refresh(), settings.problems, settings.memory.ttl_days) == (True, (), 20), breakage
