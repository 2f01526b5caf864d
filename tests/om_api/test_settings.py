from __future__ import annotations

import contextlib
import math
import os
import re
import threading
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from om_api.errors import SettingsError
from om_api.policy import Limits
from om_api.settings import MemorySettings, load_settings
from om_api.settings.catalogue import GROUPS, MODEL_FIELDS, SETTINGS, about, dotted, variable
from om_api.settings.docs import render_docs
from om_api.settings.durations import format_duration, parse_duration
from om_api.settings.urls import safe_url

ROOT = Path(__file__).parents[2]

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


class Folder:
    """A configuration folder that tests write to; every write changes what a look at the file shows."""

    def __init__(self, path):
        self.path = path
        self.writes = 0

    def base(self, text):
        return self._write(self.path / "observational-memory.yaml", text)

    def settings(self, text):
        return self.base(f"observational_memory: {{{text}}}")

    def agent(self, name, text):
        return self._write(self.path / "agents" / name / "memory.yaml", text)

    def load(self, **environ):
        return load_settings(self.path, environ)

    def refused(self, **environ):
        with pytest.raises(SettingsError) as error:
            self.load(**environ)
        return str(error.value)

    def _write(self, file, text):
        self.writes += 1
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, ns=(self.writes * 10**9, self.writes * 10**9))
        return file


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def om(text):
    return f"observational_memory: {{{text}}}"


# --- the files that come with the project and with the user


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
            yield from walk(value, (*path, key)) if isinstance(value, dict) else [(*path, key)]

    assert list(walk(stated)) == list(SETTINGS)


def test_the_shipped_file_explains_every_setting():
    lines = (ROOT / "config" / "observational-memory.yaml").read_text().partition("\nmodels:")[0].splitlines()
    unexplained = [line for line in lines if ":" in line and not line.startswith(("#", "obs")) and "  # " not in line]

    assert [line.strip() for line in unexplained] == ["observer:", "reflection:", "storage:", "redis:"]


def test_the_documentation_is_what_the_code_says():
    assert (ROOT / "docs" / "configuration.md").read_text() == render_docs(), (
        "run python -m om_api.settings.docs --write"
    )


def test_every_setting_is_documented_with_its_variable():
    page = render_docs()

    assert [
        path for path in SETTINGS if f"| `{dotted(path)}` |" not in page or f"`{variable(path)}` |" not in page
    ] == []
    assert [field for field in MODEL_FIELDS if f"`OM_MODELS__<NAME>__{field.upper()}`" not in page] == []


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


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "observational_memory:\n", "models:\n", "observational_memory:\n  observer:\n"]
)
def test_a_file_that_states_nothing_changes_nothing(folder, text):
    folder.base(text)

    assert folder.load().memory == MemorySettings()


# --- values and their ranges


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("10s", 10),
        ("5m", 300),
        ("1h", 3_600),
        ("2d", 172_800),
        ("1h30m", 5_400),
        ("1d 2h", 93_600),
        ("0.5s", 0.5),
        (7, 7),
        ("7", 7),
        (0.25, 0.25),
        ("0s", 0),
    ],
)
def test_durations_are_read_as_people_write_them(written, seconds):
    assert parse_duration(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "h",
        "10x",
        "-5s",
        "5s1h",
        "1h1h",
        "٣s",
        "1e3",
        "nan",
        "inf",
        -1,
        True,
        None,
        [],
        math.nan,
        math.inf,
        10**400,
        "9" * 90 + "s",
        "9" * 400 + "s",
        "1" + " " * 100 + "s",
    ],
)
def test_what_is_no_duration_is_refused(written):
    with pytest.raises(ValueError):
        parse_duration(written)


@given(st.integers(0, 10**9))
def test_a_written_duration_reads_back_the_same(milliseconds):
    assert parse_duration(format_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("message_threshold: 99", "message_threshold"),
        ("message_threshold: 10000001", "message_threshold"),
        ("message_threshold: 30000.5", "message_threshold"),
        ("message_threshold: true", "message_threshold"),
        ("message_threshold: '30000'", "message_threshold"),
        ("message_threshold: null", "message_threshold"),
        ("message_threshold: [1]", "message_threshold"),
        ("observation_threshold: many", "observation_threshold"),
        ("enabled: 1", "enabled"),
        ("scope: user", "scope"),
        ("preset: large", "preset"),
        ("preset: [small]", "preset"),
        ("timezone: Mars/Olympus", "timezone"),
        ("timezone: America", "timezone"),
        ("timezone: ../etc/passwd", "timezone"),
        ("timezone: 3", "timezone"),
        ("tokenizer: cl100k", "tokenizer"),
        ("buffer_tokens: 0", "buffer_tokens"),
        ("buffer_tokens: 1.5", "buffer_tokens"),
        ("buffer_tokens: false", "buffer_tokens"),
        ("buffer_tokens: .nan", "buffer_tokens"),
        ("buffer_tokens: .inf", "buffer_tokens"),
        ("buffer_activation: 0", "buffer_activation"),
        ("buffer_activation: 1.01", "buffer_activation"),
        ("buffer_activation: 999", "buffer_activation"),
        ("block_after: 0.9", "block_after"),
        ("block_after: .inf", "block_after"),
        ("observe_idle_after: -1", "observe_idle_after"),
        ("observe_idle_after: soon", "observe_idle_after"),
        ("min_recent_messages: -1", "min_recent_messages"),
        ("context_max_tokens: 0", "context_max_tokens"),
        ("observer_model: []", "observer_model"),
        ("observer_model: ''", "observer_model"),
        ("observer_model: null", "observer_model"),
        ("observer_model: [a, 3]", "observer_model"),
        ("observer: {temperature: 3}", "observer.temperature"),
        ("observer: {timeout: 0}", "observer.timeout"),
        ("observer: {prompt: own}", "observer.prompt"),
        ("observer: {max_attempts: 0}", "observer.max_attempts"),
        ("reflection: {buffer_activation: 0}", "reflection.buffer_activation"),
        ("reflection: {buffer_activation: 1.1}", "reflection.buffer_activation"),
        ("reflection: {drain: maybe}", "reflection.drain"),
        ("budget: {calls_per_day: -1}", "budget.calls_per_day"),
        ("budget: {tokens_per_day: 1.5}", "budget.tokens_per_day"),
        ("budget: {dollars_per_day: much}", "budget.dollars_per_day"),
        ("total_budget: {then: stop}", "total_budget.then"),
        ("actor_model: [a]", "actor_model"),
        ("other_threads: {total_tokens: -1}", "other_threads.total_tokens"),
        ("storage: {redis: {port: 70000}}", "storage.redis.port"),
        ("storage: {redis: {prefix: 'a{b}'}}", "storage.redis.prefix"),
        ("storage: {redis: {prefix: ''}}", "storage.redis.prefix"),
        ("storage: {redis: {url: 'http://x'}}", "storage.redis.url"),
        ("storage: {redis: {url: 'redis://'}}", "storage.redis.url"),
        ("observer_interval: 0s", "observer_interval"),
        ("ttl_days: 0", "ttl_days"),
        ("max_observations: 0", "max_observations"),
    ],
)
def test_a_value_out_of_range_names_file_key_and_what_is_permitted(folder, text, key):
    file = folder.settings(text)
    refusal = folder.refused()

    assert refusal.startswith(f"{file}: {key} is ")
    assert "permitted: " in refusal
    assert len(refusal.splitlines()) == 1


NUMBERS = [path for path, info in SETTINGS.items() if any(hasattr(bound, "ge") for bound in info.metadata)]
RANGE = re.compile(r"(?P<least>[\d.,]*\d[sdh]?) to (?P<most>[\d.,]*\d[sdh]?)(?= \(|,|$)")


def _takes(path, value):
    for key in reversed(path):
        value = {key: value}
    try:
        MemorySettings.model_validate(value)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("path", NUMBERS, ids=dotted)
def test_a_number_may_be_all_that_its_permitted_range_says_and_nothing_else(path):
    """Catches a range whose words and bounds are written down one beside the other, and differ."""
    described = about(path)
    read = parse_duration if described["unit"] == "duration" else float
    least, most = (read(end.replace(",", "")) for end in RANGE.match(described["permitted"]).group("least", "most"))
    step, number = (1, int) if "int" in str(SETTINGS[path].annotation) else (0.001, float)

    assert [_takes(path, number(value)) for value in (least, most)] == [True, True]
    assert [_takes(path, number(value)) for value in (least - step, most + step)] == [False, False]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("buffer_tokens: 30000", ("buffer_tokens", "message_threshold", "1 to 29,999")),
        ("buffer_tokens: 40000", ("buffer_tokens",)),
        ("message_threshold: 100, buffer_tokens: 0.001", ("buffer_tokens",)),
        ("buffer_activation: 30000", ("buffer_activation", "message_threshold", "1,000 to 29,999")),
        ("block_after: 29999", ("block_after", "message_threshold", "30,000 tokens or more")),
        ("reflection: {block_after: 39999}", ("reflection.block_after", "observation_threshold")),
        ("model: a, observer_model: b", ("model", "observer_model")),
        ("model: a, reflector_model: b", ("model", "reflector_model")),
        ("storage: {redis: {url: 'redis://a', host: b}}", ("storage.redis", "url", "host")),
        ("storage: {redis: {url: 'redis://a', db: 1}}", ("storage.redis", "url", "db")),
    ],
)
def test_a_contradiction_names_file_and_keys_and_what_is_permitted(folder, text, keys):
    file = folder.settings(text)
    refusal = folder.refused()

    assert refusal.startswith(f"{file}: {keys[0]}")
    assert [key for key in (*keys, "permitted: ") if key not in refusal] == []


def test_a_contradiction_between_two_files_names_both(folder):
    base = folder.settings("buffer_tokens: 6000")
    agent = folder.agent("harold", om("message_threshold: 5000"))
    (problem,) = folder.load().problems

    assert problem.file == str(agent)
    assert str(base) in problem.text
    assert "buffer_tokens is 6000" in problem.text


def test_every_mistake_of_a_file_is_reported_at_once(folder):
    folder.settings("message_threshold: 1, scope: user, obsever: 3")
    refusal = folder.refused().splitlines()

    assert len(refusal) == 3


def test_of_very_many_mistakes_the_first_are_told_and_how_many_more_there_are(folder):
    file = folder.settings(", ".join(f"k{n}: 1" for n in range(1_000)))
    refusal = folder.refused().splitlines()

    assert len(refusal) == 6
    assert refusal[-1] == f"{file}: 995 more like these"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (om("mesage_threshold: 5"), "did you mean message_threshold?"),
        (om("observer: {timout: 5s}"), "did you mean observer.timeout?"),
        (om("excerpt_tokens: 5"), "did you mean other_threads.excerpt_tokens?"),
        (om("timeout: 5s"), "did you mean observer.timeout or reflection.timeout?"),
        (om("storage: {redis: {hots: x}}"), "did you mean storage.redis.host?"),
        (om("storage: {redis: {zzz: x}}"), "permitted: url, host, port"),
        (om("observer.timeout: 5s"), "observer.timeout is not a setting"),
        ("models: {x: {base: 1}}", "did you mean models.x.base_url?"),
        (om("models: {a: {}}"), "models is not a setting; it stands at the top"),
        (om("'': 5"), "is not a setting"),
        ("message_threshold: 5", "did you mean observational_memory.message_threshold?"),
        ("observer: {}", "did you mean observational_memory.observer?"),
        ("memory: {}", "permitted: observational_memory and models"),
        ("true: 1", "permitted: observational_memory and models"),
    ],
)
def test_an_unknown_key_is_told_the_nearest_known_one(folder, text, hint):
    file = folder.base(text)
    refusal = folder.refused()

    assert refusal.startswith(f"{file}: ")
    assert hint in refusal


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("observational_memory: [1]", "observational_memory is no mapping"),
        (om("observer: 5"), "observer is no mapping; permitted: the keys temperature, timeout"),
        ("models: [a]", "models is no mapping"),
        ("models: {a: 5}", "models.a is no mapping"),
        ("- a", "not a mapping"),
        (om("a: 1, a: 2"), "line 1, column 30: not YAML: the key a stands here twice"),
        ("observational_memory:\n  enabled: [", "line 3, column 1: not YAML"),
        ("a:\n\tb: 1", "line 2, column 1: not YAML"),
        (
            "a: !!python/object/apply:os.getcwd []",
            "line 1, column 4: the tag !!python/object/apply:os.getcwd; permitted: no tags",
        ),
        ("a: \x00", "not YAML"),
        ("observational_memory: &a {observer: *a}", "line 1, column 37: a value contains itself"),
        ("observational_memory: *nobody", "line 1, column 23: not YAML: found undefined alias"),
        pytest.param(f"{om('ttl_days: 5')} #{'x' * 65_536}", "larger than 65,536 bytes", id="a large file"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(folder, text, what):
    file = folder.base(text)
    refusal = folder.refused()

    assert refusal.startswith(str(file))
    assert what in refusal


KEYS = st.sampled_from(sorted({key for path in SETTINGS for key in path} | {"models", "x", "", "1", *MODEL_FIELDS}))
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()
DATA = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4))


@given(memory=DATA, models=DATA)
def test_whatever_a_file_holds_it_loads_or_is_refused_with_a_settings_error(tmp_path_factory, memory, models):
    folder = Folder(tmp_path_factory.mktemp("any"))
    folder.base("")
    folder.agent("x", yaml.safe_dump({"observational_memory": memory}))
    problems = folder.load().problems
    folder.base(yaml.safe_dump({"observational_memory": memory, "models": models}))
    with contextlib.suppress(SettingsError):
        folder.load()

    assert len(problems) <= 1


def test_bytes_that_are_no_text_are_refused(folder):
    folder.base("").write_bytes(b"a: \xff\xfe\xff")

    assert "not YAML" in folder.refused()


@pytest.mark.parametrize("backend", ["postgres", "sqlite"])
def test_another_backend_is_refused_with_what_is_offered(folder, backend):
    folder.settings(f"storage: {{backend: {backend}}}")

    assert f'storage.backend is "{backend}"; permitted: redis, the one store offered' in folder.refused()


def test_a_setting_cannot_be_changed_once_it_is_loaded():
    with pytest.raises(ValueError, match="frozen"):
        MemorySettings().message_threshold = 5


# --- limits


def test_the_defaults_are_the_policys_defaults():
    assert MemorySettings().limits() == Limits()


@pytest.mark.parametrize(
    ("settings", "limits"),
    [
        ({"buffer_tokens": 0.5}, {"buffer_tokens": 15_000}),
        ({"buffer_tokens": 1}, {"buffer_tokens": 1}),
        ({"buffer_tokens": 29_999}, {"buffer_tokens": 29_999}),
        ({"message_threshold": 999}, {"buffer_tokens": 200, "floor": 200, "block_after": 1_199}),
        ({"buffer_activation": 1.0}, {"floor": 0}),
        ({"buffer_activation": 1}, {"floor": 0}),
        ({"buffer_activation": 1_000}, {"floor": 1_000}),
        ({"buffer_activation": 0.3}, {"floor": 21_000}),
        ({"block_after": 1}, {"block_after": 30_000}),
        ({"block_after": 99.5}, {"block_after": 2_985_000}),
        ({"message_threshold": 100, "block_after": 100}, {"block_after": 100}),
        ({"block_after": 30_000}, {"block_after": 30_000}),
        (
            {"reflection": {"buffer_activation": 1.0, "block_after": 50_000}},
            {"reflect_from": 40_000, "reflect_block": 50_000},
        ),
        ({"observe_idle_after": "1m30s"}, {"observe_idle_ms": 90_000}),
        ({"scope": "thread"}, {"drain": False}),
        ({"scope": "thread", "reflection": {"drain": True}}, {"drain": True}),
        ({"reflection": {"drain": False}}, {"drain": False}),
        (
            {"enabled": False, "read_only": True, "share_token_budget": True},
            {"enabled": False, "read_only": True, "share_token_budget": True},
        ),
        ({"min_recent_messages": 0, "max_observations": 7}, {"min_recent_messages": 0, "max_observations": 7}),
    ],
)
def test_limits_are_whole_tokens_and_milliseconds(settings, limits):
    resolved = MemorySettings.model_validate(settings).limits()

    assert {key: getattr(resolved, key) for key in limits} == limits


@given(
    threshold=st.integers(100, 10_000_000),
    share=st.floats(0.01, 0.99),
    ratio=st.floats(0.01, 1),
    block=st.floats(1, 99),
)
def test_whatever_loads_has_sound_limits(threshold, share, ratio, block):
    limits = MemorySettings(
        message_threshold=threshold, buffer_tokens=share, buffer_activation=ratio, block_after=block
    ).limits()

    assert 1 <= limits.buffer_tokens < threshold
    assert 0 <= limits.floor < threshold
    assert limits.block_after >= threshold


def test_the_small_preset_stands_under_what_is_stated_beside_it(folder):
    folder.settings("preset: small, observation_threshold: 9000")
    settings = folder.load()

    assert (settings.memory.message_threshold, settings.memory.observation_threshold) == (1_000, 9_000)
    assert settings.origin()["message_threshold"] == "preset small"
    assert MemorySettings(preset="small").message_threshold == 1_000


def test_a_preset_stands_above_the_layers_below_the_one_that_states_it(folder):
    folder.settings("message_threshold: 20000")
    folder.agent("tiny", om("preset: small"))

    assert folder.load().for_agent("tiny").message_threshold == 1_000
    assert folder.load(OM_PRESET="small").memory.message_threshold == 1_000
    assert folder.load(OM_PRESET="null").for_agent("tiny").message_threshold == 20_000


# --- models


@pytest.mark.parametrize(
    ("settings", "observers", "reflectors"),
    [
        ({"model": "a"}, ("a",), ("a",)),
        ({"model": ["a", "b"]}, ("a", "b"), ("a", "b")),
        ({"observer_model": ["a", "b"], "reflector_model": "c"}, ("a", "b"), ("c",)),
        ({"observer_model": "never/heard-of:it"}, ("never/heard-of:it",), ("gemini-2.5-flash",)),
    ],
)
def test_models_are_names_tried_in_order(settings, observers, reflectors):
    memory = MemorySettings.model_validate(settings)

    assert (memory.observer_models, memory.reflector_models) == (observers, reflectors)


def test_a_model_above_speaks_for_both_whatever_stands_below(folder):
    folder.settings("observer_model: a, reflector_model: b")
    folder.agent("harold", om("model: c"))
    harold = folder.load().for_agent("harold")

    assert (harold.model, harold.observer_models, harold.reflector_models) == ("c", ("c",), ("c",))


def test_an_observer_model_above_takes_its_half_of_a_model_below(folder):
    folder.settings("model: a")
    folder.agent("harold", om("observer_model: b"))
    harold = folder.load().for_agent("harold")

    assert (harold.model, harold.observer_models, harold.reflector_models) == (None, ("b",), ("a",))


def test_a_model_is_listed_under_its_own_name_unless_it_says_otherwise(folder):
    folder.base("models: {a: {provider: openai}, b: {provider: openai, model: c}, d: }")
    models = folder.load().models

    assert [models[name].model for name in ("a", "b", "d")] == ["a", "c", "d"]
    assert (models["d"].provider, models["deepseek"].model) == ("", "deepseek-chat")


def test_an_entry_replaces_the_built_in_one_so_that_no_key_goes_elsewhere(folder):
    folder.base("models: {deepseek: {base_url: 'http://localhost:8000/v1'}}")
    deepseek = folder.load().models["deepseek"]

    assert (deepseek.provider, deepseek.model, deepseek.api_key_env) == ("openai", "deepseek", None)


def test_limits_are_kept_and_null_is_none(folder):
    folder.base(
        "models: {a: {provider: openai, limits: {requests_per_minute: 60, concurrency: null}}, b: {limits: null}}"
    )
    models = folder.load().models

    assert models["a"].limits == {"requests_per_minute": 60, "concurrency": None}
    assert models["b"].limits is None


def test_prices_and_options_are_kept(folder):
    folder.base("models: {a: {provider: openai, prices: {input: 1, cached: 0.1, output: 2.5}, options: {top_p: 0.9}}}")
    model = folder.load().models["a"]

    assert (model.prices, model.options) == ({"input": 1.0, "cached": 0.1, "output": 2.5}, {"top_p": 0.9})


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("api_key: sk-hush", "api_key_env"),
        ("options: {headers: {Authorization: sk-hush}}", "api_key_env"),
        ("api_key_env: sk-hush", "api_key_env is not usable"),
        ("base_url: 'https://me:sk-hush@host/v1'", "base_url is not usable"),
        ("base_url: localhost", "http:// or https://"),
        ("prices: {input: 1}", "input, output"),
        ("prices: {input: 1, output: -1}", "0 to 1,000,000"),
        ("prices: {}", "input, output"),
        ("prices: {input: 1, output: 1, thought: 1}", "input, output"),
        ("limits: {requests_per_minute: 0}", "1 to 1,000,000,000 each"),
        ("limits: {requests_per_minute: '60'}", "1 to 1,000,000,000 each"),
        ("limits: {requests_per_hour: 60}", "requests_per_minute, tokens_per_minute and concurrency"),
        ("provider: 5", "models.x.provider"),
    ],
)
def test_a_model_that_cannot_be_is_refused_without_showing_secrets(folder, entry, what):
    file = folder.base(f"models: {{x: {{{entry}}}}}")
    refusal = folder.refused()

    assert refusal.startswith(f"{file}: models.x")
    assert what in refusal
    assert "hush" not in refusal


# --- the server


@pytest.mark.parametrize(
    ("redis", "url"),
    [
        ("host: red", "redis://red:6379/0"),
        ("host: red, port: 7000, db: 3, username: me", "redis://me@red:7000/3"),
        ("host: '::1'", "redis://[::1]:6379/0"),
        ("port: 7000", "redis://127.0.0.1:7000/0"),
        ("url: 'rediss://red:6380/1'", "rediss://red:6380/1"),
        ("url: 'redis+sentinel://one:26379,two:26379/mymaster/0'", "redis+sentinel://one:26379,two:26379/mymaster/0"),
        ("url: 'unix:///run/redis.sock'", "unix:///run/redis.sock"),
    ],
)
def test_a_server_is_named_by_url_or_by_host(folder, redis, url):
    folder.settings(f"storage: {{redis: {{{redis}}}}}")
    settings = folder.load()

    assert settings.redis_url == settings.broker_url == url


@pytest.mark.parametrize(
    ("redis", "url"),
    [
        ("host: red, password_env: PW", "redis://:p%40%2Fss@red:6379/0"),
        ("host: red, username: me, password_env: PW", "redis://me:p%40%2Fss@red:6379/0"),
        ("url: 'rediss://me@red', password_env: PW", "rediss://me:p%40%2Fss@red"),
    ],
)
def test_a_password_comes_from_the_variable_a_file_names(folder, redis, url):
    folder.settings(f"storage: {{redis: {{{redis}}}}}")

    assert folder.load(PW="p@/ss").redis_url == url
    assert "storage.redis.password_env names PW, which is not set" in folder.refused()


def test_a_password_in_a_file_is_refused_and_not_shown(folder):
    folder.settings("storage: {redis: {url: 'redis://:hush@red:6379/0'}}")
    refusal = folder.refused()

    assert "storage.redis.password_env" in refusal
    assert "hush" not in refusal


def test_a_password_in_the_environment_is_never_shown(folder):
    settings = folder.load(OM_REDIS_URL="redis://me:hush@red:6379/0", OM_BROKER_URL="redis://:hush@broker/1")

    assert settings.redis_url == "redis://me:hush@red:6379/0"
    assert settings.broker_url == "redis://:hush@broker/1"
    assert "hush" not in f"{settings!r} {settings.memory!r} {settings.memory} {settings.origin()}"
    assert "hush" not in folder.refused(OM_REDIS_URL="http://me:hush@red")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://red:6379/0", "redis://red:6379/0"),
        ("redis://:hush@red", "redis://:***@red"),
        ("rediss://me:hu@sh/@red:1/0", "rediss://me:***@red:1/0"),
        ("redis+sentinel://:hush@one:1,two:2/m", "redis+sentinel://:***@one:1,two:2/m"),
        ("redis://red/0?password=hush&db=1", "redis://red/0?password=***&db=1"),
        ("sentinel://:hush@one:1;sentinel://:hush@two:2", "sentinel://:***@two:2"),
        ("redis://red/0?a@b", "redis://red/0?a@b"),
    ],
)
def test_an_address_is_shown_without_its_password(folder, url, shown):
    assert folder.load().safe_url(url) == safe_url(url) == shown


# --- the environment


@pytest.mark.parametrize("path", SETTINGS, ids=dotted)
def test_every_setting_has_a_variable(folder, path):
    default = SETTINGS[path].default
    settings = folder.load(**{variable(path): "null" if default is None else str(default)})

    assert settings.memory == MemorySettings()
    assert settings.origin()[dotted(path)] == f"environment {variable(path)}"


def test_variables_are_written_as_in_yaml(folder):
    settings = folder.load(
        OM_ENABLED="off",
        OM_TIMEZONE="Europe/Berlin",
        OM_OBSERVER__TIMEOUT="60s",
        OM_OBSERVER__INSTRUCTION="Note: keep # signs",
        OM_OBSERVER_MODEL="[a, b]",
        OM_REFLECTION__DRAIN="false",
        OM_CONTEXT_MAX_TOKENS="9000",
        OM_BUFFER_TOKENS="0.3",
        OM_PREFIX="my:om",
        OM_STORAGE__REDIS__HOST="red",
    )
    memory = settings.memory

    assert (memory.enabled, memory.timezone, memory.observer.timeout) == (False, "Europe/Berlin", 60)
    assert (memory.observer_models, memory.drain) == (("a", "b"), False)
    assert (memory.context_max_tokens, settings.prefix, memory.buffer_tokens) == (9_000, "my:om", 0.3)
    assert (memory.observer.instruction, settings.redis_url) == ("Note: keep # signs", "redis://red:6379/0")


def test_the_environment_stands_above_every_file(folder):
    folder.settings("message_threshold: 20000, timezone: Europe/Rome")
    folder.agent("harold", om("message_threshold: 50000, ttl_days: 5"))
    settings = folder.load(OM_MESSAGE_THRESHOLD="25000")

    assert settings.memory.message_threshold == settings.for_agent("harold").message_threshold == 25_000
    assert (settings.for_agent("harold").timezone, settings.for_agent("harold").ttl_days) == ("Europe/Rome", 5)


def test_an_address_in_the_environment_takes_the_place_of_a_host_in_a_file(folder):
    folder.settings("storage: {redis: {host: red, port: 7000, password_env: PW, prefix: mine}}")
    settings = folder.load(OM_REDIS_URL="redis://blue")

    assert (settings.redis_url, settings.prefix) == ("redis://blue", "mine")


def test_an_empty_variable_counts_as_not_set(folder):
    assert folder.load(OM_MESSAGE_THRESHOLD="", OM_NONSENSE="").memory == MemorySettings()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("OM_MESAGE_THRESHOLD", "OM_MESSAGE_THRESHOLD"),
        ("OM_OBSERVER_TIMEOUT", "OM_OBSERVER__TIMEOUT"),
        ("OM_REDISURL", "OM_REDIS_URL"),
        ("OM_FLOWER_PASS", "OM_FLOWER_PASSWORD"),
        ("OM_MODELS__DEEPSEEK__API_KEY", "OM_MODELS__DEEPSEEK__API_KEY_ENV"),
    ],
)
def test_an_unknown_variable_is_told_the_nearest_known_one(folder, name, nearest):
    refusal = folder.refused(**{name: "hush"})

    assert refusal.startswith(f"environment {name}: ")
    assert refusal.endswith(nearest)
    assert "hush" not in refusal


def test_variables_of_other_programs_are_left_alone(folder):
    others = ("OM_FLOWER_USER", "OM_FLOWER_PASSWORD", "OM_FLOWER_PORT", "OM_DATA_DIR", "OM_LOG_FORMAT", "OM_LOG_LEVEL")
    settings = folder.load(**dict.fromkeys((*others, "OM_TEST_REDIS_URL", "OM_CONCURRENCY", "PATH", "OMEGA"), "x"))

    assert settings.memory == MemorySettings()
    assert (settings.variable("OM_LOG_LEVEL"), settings.variable("OM_LOG")) == ("x", None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OM_MESSAGE_THRESHOLD", "many"),
        ("OM_SCOPE", "{a: b}"),
        ("OM_BUFFER_TOKENS", "["),
        ("OM_MODEL", "[&a [*a]]"),
        ("OM_MODEL", "{2026-01-01: x}"),
        ("OM_BUFFER_TOKENS", "9" * 400),
        ("OM_PRESET", "0x" + "f" * 5_000),
        ("OM_TTL_DAYS", "[!!bool maybe]"),
    ],
)
def test_a_wrong_value_names_its_variable(folder, name, value):
    assert folder.refused(**{name: value}).startswith(f"environment {name}: {name.lower()[3:]} is ")


def test_bytes_in_a_variable_that_are_no_text_are_refused(folder):
    """Catches an instruction that nobody can send, found when a model is asked."""
    refusal = folder.refused(OM_OBSERVER__INSTRUCTION=b"\xff".decode("utf-8", "surrogateescape"))

    assert refusal == "environment OM_OBSERVER__INSTRUCTION: not UTF-8; permitted: text"


def test_two_variables_may_not_disagree(folder):
    refusal = folder.refused(OM_PREFIX="a", OM_STORAGE__REDIS__PREFIX="b")

    assert [
        name for name in ("OM_PREFIX", "OM_STORAGE__REDIS__PREFIX", "storage.redis.prefix") if name not in refusal
    ] == []
    assert folder.load(OM_PREFIX="a", OM_STORAGE__REDIS__PREFIX="a").prefix == "a"


def test_a_variable_changes_one_field_of_a_model(folder):
    folder.base("models: {my.own-model: {provider: openai, api_key_env: MINE}}")
    models = folder.load(
        OM_MODELS__MY_OWN_MODEL__BASE_URL="http://here/v1",
        OM_MODELS__GEMINI_2_5_FLASH__MODEL="gemini-3",
        OM_MODELS__DEEPSEEK__PRICES="{input: 1, output: 2}",
    ).models

    assert (models["my.own-model"].base_url, models["my.own-model"].api_key_env) == ("http://here/v1", "MINE")
    assert (models["gemini-2.5-flash"].model, models["gemini-2.5-flash"].provider) == ("gemini-3", "gemini")
    assert models["deepseek"].prices == {"input": 1.0, "output": 2.0}


def test_a_variable_makes_a_model_that_is_not_there(folder):
    model = folder.load(OM_MODELS__LOCAL_QWEN__BASE_URL="http://here/v1").models["local_qwen"]

    assert (model.provider, model.model, model.base_url) == ("openai", "local_qwen", "http://here/v1")


# --- agents


def test_the_most_specific_override_wins_and_only_that_one(folder):
    for threshold, name in enumerate(("*", "worker-*", "worker-1*", "worker-17"), start=1):
        folder.agent(name, om(f"message_threshold: {threshold}000, {'ttl_days: 3' if name == '*' else ''}"))
    settings = folder.load()
    found = [settings.for_agent(name).message_threshold for name in ("worker-17", "worker-18", "worker-2", "other")]

    assert found == [4_000, 3_000, 2_000, 1_000]
    assert settings.for_agent("worker-17").ttl_days == 90
    assert settings.agents() == ("*", "worker-*", "worker-1*", "worker-17")


def test_an_id_never_becomes_a_path(folder):
    folder.agent("harold", om("message_threshold: 50000"))
    folder._write(folder.path / "memory.yaml", om("message_threshold: 60000"))
    settings = folder.load()

    assert {settings.for_agent(name) for name in ("..", ".", "agents/harold", "./harold", "harold/", "HAROLD", "")} == {
        settings.memory
    }


def test_a_folder_without_an_override_is_no_agent(folder):
    (folder.path / "agents" / "empty").mkdir(parents=True)
    (folder.path / "agents" / "README.md").write_text("# words")
    folder.agent(".git", "nonsense")

    assert (folder.load().agents(), folder.load().problems) == ((), ())


def test_where_a_value_comes_from_is_told_for_every_key(folder):
    base = folder.base("observational_memory: {ttl_days: 5, observer: {timeout: 9}}\nmodels: {m: {provider: openai}}")
    agent = folder.agent("harold", om("ttl_days: 6"))
    settings = folder.load(OM_REDIS_URL="redis://:hush@red")
    origin = settings.origin("harold")

    assert {dotted(path) for path in SETTINGS} <= origin.keys()
    assert (origin["ttl_days"], origin["observer.timeout"], origin["scope"]) == (str(agent), str(base), "default")
    assert (origin["storage.redis.url"], origin["models.m.provider"]) == ("environment OM_REDIS_URL", str(base))
    assert settings.origin()["ttl_days"] == settings.origin("albert")["ttl_days"] == str(base)


def test_a_broken_override_is_a_problem_of_that_agent_only(folder):
    file = folder.agent("harold", "observational_memory: [")
    folder.agent("albert", om("ttl_days: 6"))
    settings = folder.load()
    (problem,) = settings.problems

    assert (problem.file, problem.text.startswith("line 2, column 1: not YAML")) == (str(file), True)
    assert settings.for_agent("harold") == settings.memory
    assert settings.for_agent("albert").ttl_days == 6


@pytest.mark.parametrize(
    "text",
    [
        om("storage: {redis: {prefix: other}}"),
        om("observer_interval: 5s"),
        om("reflector_interval: 5s"),
        om("total_budget: {calls_per_day: 5}"),
        om("events: {keep: 500}"),
        om("metrics: {resources: 5}"),
        "models: {x: {provider: openai}}",
    ],
)
def test_an_override_may_not_change_what_holds_for_the_whole_system(folder, text):
    folder.agent("harold", text)
    (problem,) = folder.load().problems

    assert "holds for the whole system" in problem.text


def test_a_copy_of_the_whole_base_file_is_a_fine_override(folder):
    shipped = (ROOT / "config" / "observational-memory.yaml").read_text()
    folder.base(shipped)
    folder.agent("harold", shipped.replace("ttl_days: 90", "ttl_days: 7"))
    settings = folder.load()

    assert (settings.for_agent("harold").ttl_days, settings.problems) == (7, ())


# --- while running


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
    assert [(problem.file, problem.text[:8]) for problem in settings.problems] == [(str(file), "ttl_days")]


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


def test_groups_are_the_mappings_of_the_file():
    assert {dotted(group) for group in GROUPS} == {
        "",
        "other_threads",
        "observer",
        "reflection",
        "budget",
        "total_budget",
        "events",
        "metrics",
        "api",
        "storage",
        "storage.redis",
    }
