"""The settings of a process: where they are loaded from, and how they change while it runs."""

import threading
from pathlib import Path

import pytest
import yaml
from configured import ROOT, Folder, om

from om_api.domain.errors import SettingsError
from om_api.settings import MemorySettings, load_settings
from om_api.settings.catalogue import SETTINGS
from om_api.settings.live import rows

USERS_BASE = """\
# config/observational-memory.yaml

observational_memory:
  enabled: true

  # Token thresholds
  message_threshold: 30000      # Trigger Observer at 30k tokens
  observation_threshold: 40000  # Trigger Reflector at 40k tokens

  # Model configuration
  observer_model: "gemini-2.5-flash"
  reflector_model: "gemini-2.5-flash"

  # Scope: "thread" (per-conversation) or "resource" (per-user/agent)
  scope: "resource"  # Cross-session for swarm

  # Token budget sharing
  share_token_budget: false

  # Storage
  storage:
    backend: "redis"
    redis:
      host: "192.168.1.186"
      port: 6379
      prefix: "cortex:om"

  # Background agent intervals
  observer_interval: "10s"
  reflector_interval: "30s"

  # Retention
  max_observations: 1000
  max_reflections: 100
  ttl_days: 90
"""


USERS_HAROLD = """\
# agents/harold/memory.yaml

observational_memory:
  scope: "resource"           # Harold remembers across all threads
  message_threshold: 50000    # Higher threshold for overseer
  observer_model: "deepseek"  # Cost optimization
"""


def test_the_users_two_files_load_verbatim(folder):
    folder.base(USERS_BASE)
    folder.agent("harold", USERS_HAROLD)
    settings = folder.load()
    harold = settings.for_agent("harold")

    assert settings.redis_url == "redis://192.168.1.186:6379/0"
    assert (harold.message_threshold, harold.observer_models) == (50_000, ("deepseek",))
    assert harold.reflector_models == settings.memory.observer_models == ("gemini-2.5-flash",)
    assert settings.problems == ()


def test_the_shipped_file_says_what_is_built_in():
    shipped, built_in = (
        load_settings(ROOT / "config", {}),
        load_settings(environ={}, config_dir=ROOT / "config" / "agents"),
    )

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


def test_the_shipped_file_explains_every_setting():
    lines = (ROOT / "config" / "observational-memory.yaml").read_text().partition("\nmodels:")[0].splitlines()
    unexplained = [line for line in lines if ":" in line and not line.startswith(("#", "obs")) and "  # " not in line]

    assert [line.strip() for line in unexplained] == ["observer:", "reflection:", "storage:", "redis:"]


def test_without_any_folder_the_defaults_are_in_force(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = load_settings(environ={})

    assert settings.memory == MemorySettings()
    assert set(settings.models) == {"gemini-2.5-flash", "deepseek", "extractive"}
    assert (settings.agents(), settings.problems, settings.refresh()) == ((), (), False)


def test_the_folder_is_the_argument_else_the_variable_else_config_here(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, threshold in (("config", 5_000), ("other", 6_000), ("third", 7_000)):
        Folder(tmp_path / name).settings(f"message_threshold: {threshold}")

    assert load_settings(environ={}).memory.message_threshold == 5_000
    assert load_settings(environ={"OM_CONFIG_DIR": "other"}).memory.message_threshold == 6_000
    assert load_settings(Path("third"), {"OM_CONFIG_DIR": "other"}).memory.message_threshold == 7_000


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(SettingsError, match="no such folder"):
        load_settings(environ={"OM_CONFIG_DIR": str(tmp_path / "nowhere")})


def test_a_folder_may_be_named_by_text(folder):
    folder.settings("ttl_days: 5")

    assert load_settings(str(folder.path), {}).memory.ttl_days == 5


@pytest.mark.parametrize("other", [5, b"config", "", {"OM_PREFIX": "x"}, True])
def test_what_names_no_folder_is_told_what_does(other):
    """Catches a riddle such as "'str' object has no attribute 'is_dir'"."""
    with pytest.raises(SettingsError, match=r"config_dir is .*; permitted: the path of a folder, as text or as a Path"):
        load_settings(other, {})


def test_a_folder_that_nobody_named_is_taken_up_when_it_appears(folder, tmp_path, monkeypatch):
    """Catches a worker that goes on without ./config, which is in force for every command."""
    monkeypatch.chdir(tmp_path)
    settings, here = load_settings(environ={}), Folder(tmp_path / "config")
    here.agent("harold", om("ttl_days: 6"))
    assert (settings.refresh(), settings.agents()) == (False, ())
    here.settings("ttl_days: 5")

    assert (settings.refresh(), settings.memory.ttl_days, settings.for_agent("harold").ttl_days) == (True, 5, 6)


@pytest.mark.parametrize("named", [True, False])
def test_a_base_that_is_a_link_to_nothing_is_said(tmp_path, monkeypatch, named):
    """Catches defaults that are in force without a word, for a file that everybody sees."""
    monkeypatch.chdir(tmp_path)
    Path("config").mkdir()
    Path("config/observational-memory.yaml").symlink_to("gone.yaml")
    with pytest.raises(SettingsError, match=r"cannot be read: it is a link to gone\.yaml, which is not there"):
        load_settings("config" if named else None, {})


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
        (str(file), "line 4: ttl_days "),
        (str(file), "line 8: models.ot"),
    ]


def test_a_base_that_is_no_yaml_leaves_the_defaults_and_the_environment_where_somebody_only_looks(folder):
    folder.base("observational_memory: [")
    settings = load_settings(folder.path, {"OM_TTL_DAYS": "7"}, strict=False)

    assert settings.memory == MemorySettings(ttl_days=7)
    assert len(settings.problems) == 1
    folder.settings("message_threshold: 5000")
    assert (settings.refresh(), settings.problems, settings.memory.message_threshold) == (True, (), 5_000)


@pytest.mark.parametrize("redis", ["port: 0", "password_env: PW", "hots: red"])
def test_a_store_that_is_not_known_is_an_error_for_everybody(folder, redis):
    """Catches a message that is pushed to the default server, for the file that names another one is broken."""
    folder.settings(f"ttl_days: 5, storage: {{redis: {{{redis}}}}}")
    with pytest.raises(SettingsError, match=r"storage\.redis"):
        load_settings(folder.path, {}, strict=False)


def test_an_environment_that_cannot_be_is_an_error_for_everybody(folder):
    with pytest.raises(SettingsError, match="OM_TTL_DAYS"):
        load_settings(folder.path, {"OM_TTL_DAYS": "never"}, strict=False)


def test_nothing_changed_means_nothing_is_read(folder):
    folder.settings("ttl_days: 5")
    folder.agent("harold", om("ttl_days: 6"))
    settings = folder.load()
    memory = settings.memory

    assert settings.refresh() is False
    assert settings.memory is memory


def test_a_changed_base_reaches_every_agent(folder):
    folder.settings("ttl_days: 5")
    folder.agent("harold", om("message_threshold: 50000"))
    settings = folder.load()
    folder.settings("ttl_days: 7")

    assert (settings.refresh(), settings.refresh()) == (True, False)
    assert (settings.memory.ttl_days, settings.for_agent("harold").ttl_days) == (7, 7)


def test_overrides_appear_change_and_disappear(folder):
    settings = folder.load()
    seen = []
    for text in (om("ttl_days: 6"), om("ttl_days: 7"), None):
        file = folder.agent("harold", text or "")
        if text is None:
            file.unlink()
        seen.append((settings.refresh(), settings.for_agent("harold").ttl_days, settings.agents()))

    assert seen == [(True, 6, ("harold",)), (True, 7, ("harold",)), (True, 90, ())]


def test_a_broken_override_leaves_the_last_good_one_in_force(folder):
    folder.agent("harold", om("ttl_days: 6"))
    settings = folder.load()
    file = folder.agent("harold", om("ttl_days: never"))

    assert settings.refresh() is False
    assert settings.for_agent("harold").ttl_days == 6
    assert [(problem.file, problem.text[:16]) for problem in settings.problems] == [(str(file), "line 1: ttl_days")]


def test_a_mended_override_is_a_problem_no_more(folder):
    folder.agent("harold", om("ttl_days: never"))
    settings = folder.load()
    folder.agent("harold", om("ttl_days: 8"))

    assert (len(settings.problems), settings.refresh()) == (1, True)
    assert (settings.problems, settings.for_agent("harold").ttl_days) == ((), 8)


@pytest.mark.parametrize("breakage", ["a: [", "observational_memory: {ttl_days: never}", None])
def test_a_broken_base_leaves_the_last_good_one_in_force(folder, breakage):
    file = folder.settings("ttl_days: 5")
    settings = folder.load()
    file.unlink() if breakage is None else folder.base(breakage)
    folder.agent("albert", om("message_threshold: 1000"))

    assert settings.refresh() is True
    assert (settings.memory.ttl_days, settings.for_agent("albert").ttl_days) == (5, 5)
    assert [problem.file for problem in settings.problems] == [str(file)]


def test_a_broken_base_stays_a_problem_until_it_is_mended(folder):
    folder.settings("ttl_days: 5")
    settings = folder.load()
    folder.base("nonsense")
    settings.refresh()
    folder.agent("albert", om("ttl_days: 6"))

    assert (settings.refresh(), len(settings.problems), settings.for_agent("albert").ttl_days) == (True, 1, 6)
    folder.settings("ttl_days: 8")
    assert (settings.refresh(), settings.problems, settings.memory.ttl_days) == (True, (), 8)


def test_a_base_that_appears_while_running_is_picked_up(folder):
    settings = folder.load()
    folder.settings("ttl_days: 5")

    assert (settings.refresh(), settings.memory.ttl_days) == (True, 5)


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


def test_a_base_that_appears_and_says_nothing_changes_nobodys_settings(folder):
    settings = folder.load()
    folder.base("# nothing yet")

    assert (settings.refresh(), settings.problems) == (False, ())


def test_files_that_did_not_change_are_not_opened(folder, monkeypatch):
    folder.settings("ttl_days: 5")
    folder.agent("harold", om("ttl_days: 6"))
    settings = folder.load()
    monkeypatch.setattr("om_api.settings.folder.read_layer", None)

    assert (settings.refresh(), settings.problems) == (False, ())


def test_a_broken_override_that_appears_takes_its_agent_from_the_globs(folder):
    folder.agent("worker-*", om("ttl_days: 6"))
    settings = folder.load()
    folder.agent("worker-1", "nonsense")

    assert (settings.refresh(), settings.for_agent("worker-1").ttl_days) == (True, 90)


def test_a_folder_that_can_be_listed_again_is_no_problem_any_more(folder):
    folder.agent("harold", om("ttl_days: 6"))
    settings, agents = folder.load(), folder.path / "agents"
    agents.rename(folder.path / "away")
    agents.write_text("")
    seen = [(settings.refresh(), len(settings.problems), settings.for_agent("harold").ttl_days)]
    agents.unlink()
    (folder.path / "away").rename(agents)
    seen.append((settings.refresh(), len(settings.problems), settings.for_agent("harold").ttl_days))

    assert seen == [(False, 1, 6), (False, 0, 6)]


@pytest.mark.parametrize(("stated", "shown"), [("1", "1.0"), ("0.5", "0.5"), ("omit", "omit"), ("null", "null")])
def test_a_models_temperature_is_shown_whatever_it_is(folder, stated, shown):
    """Catches a warning of pydantic's, printed above the table, for a whole number."""
    file = folder.base(f"models: {{m: {{temperature: {stated}}}}}")
    (row,) = (row for row in rows(folder.load()) if row.key == "models.m.temperature")

    assert (row.shown(), row.origin) == (shown, str(file))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:secret@127.0.0.1:1/0", "redis://:***@127.0.0.1:1/0"),
        ("redis://127.0.0.1:1/0?password=secret", "redis://127.0.0.1:1/0?***"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(url, shown):
    found = {row.key: row.shown() for row in rows(load_settings(environ={"OM_REDIS_URL": url}), None)}

    assert found["storage.redis.url"] == shown
