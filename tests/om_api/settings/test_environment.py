"""The environment's layer, above every file."""

import json

import pytest
from configured import om

from om_api.settings import MemorySettings
from om_api.settings.catalogue import SETTINGS, dotted, variable


@pytest.mark.parametrize("path", SETTINGS, ids=dotted)
def test_every_setting_has_a_variable(folder, path):
    default = SETTINGS[path].default
    said = {None: "null"}.get(default, json.dumps(default) if isinstance(default, tuple) else str(default))
    settings = folder.load(**{variable(path): said})

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
    others = ("OM_FLOWER_USER", "OM_FLOWER_PASSWORD", "OM_FLOWER_PORT", "OM_DATA_DIR")
    settings = folder.load(**dict.fromkeys((*others, "OM_TEST_REDIS_URL", "PATH", "OMEGA"), "x"))

    assert settings.memory == MemorySettings()
    assert (settings.variable("OM_DATA_DIR"), settings.variable("OM_DATA")) == ("x", None)


@pytest.mark.parametrize(
    ("name", "wrong", "right", "permitted"),
    [
        ("OM_LOG_FORMAT", "xml", ["json", "text"], "json or text"),
        ("OM_LOG_LEVEL", "loud", ["debug", "Info", "CRITICAL"], "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("OM_CONCURRENCY", "many", ["1", "9999"], "1 to 9,999"),
    ],
)
def test_a_variable_that_is_no_setting_is_refused_with_what_is_permitted(folder, name, wrong, right, permitted):
    """Catches a log that is written otherwise than asked for, and a number that ends a worker with a traceback."""
    assert folder.refused(**{name: wrong}) == f"environment {name}: it is '{wrong}'; permitted: {permitted}"
    assert [folder.load(**{name: value}).variable(name) for value in right] == right


def test_every_variable_that_cannot_be_is_told_at_once(folder):
    refusal = folder.refused(OM_LOG_FORMAT="xml", OM_MESAGE_THRESHOLD="1", OM_REDIS_URL="redis://a")

    assert [line.split(":")[0] for line in refusal.splitlines()] == [
        "environment OM_LOG_FORMAT",
        "environment OM_MESAGE_THRESHOLD",
    ]


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
