"""An agent's settings: ranges, contradictions, and the limits that follow."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import SettingsError
from om_api.domain.policy import Limits
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.settings import MemorySettings, load_settings
from om_api.settings.catalogue import SETTINGS, about, dotted
from om_api.settings.sections.fields import parse_duration


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
        ("timezone: localtime", "timezone"),
        ("timezone: posix/Europe/Berlin", "timezone"),
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
        ("context_max_tokens: 99", "context_max_tokens"),
        ("context_max_tokens: 500.5", "context_max_tokens"),
        ("context_max_tokens: true", "context_max_tokens"),
        ("context_max_tokens: automatic", "context_max_tokens"),
        ("context_max_tokens: 10000001", "context_max_tokens"),
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

    assert refusal.startswith(f"{file}, line 1: {key} is ")
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
        (
            "reflection: {mode: archive, archive: {keep_tokens: 40000}}",
            ("reflection.archive.keep_tokens", "observation_threshold", "1 to 39,999"),
        ),
        (
            "observation_threshold: 100, reflection: {archive: {keep_tokens: 0.001}}",
            ("reflection.archive.keep_tokens",),
        ),
        ("reflection: {mode: archive, review: ask}", ("reflection.review", "reflection.mode", "review off")),
        ("model: a, observer_model: b", ("model", "observer_model")),
        ("model: a, reflector_model: b", ("model", "reflector_model")),
        ("storage: {redis: {url: 'redis://a', host: b}}", ("storage.redis", "url", "host")),
        ("storage: {redis: {url: 'redis://a', db: 1}}", ("storage.redis", "url", "db")),
    ],
)
def test_a_contradiction_names_file_and_keys_and_what_is_permitted(folder, text, keys):
    file = folder.settings(text)
    refusal = folder.refused()

    assert refusal.startswith(f"{file}, line 1: {keys[0]}")
    assert [key for key in (*keys, "permitted: ") if key not in refusal] == []


def test_a_setting_cannot_be_changed_once_it_is_loaded():
    with pytest.raises(ValueError, match="frozen"):
        MemorySettings().message_threshold = 5


def test_the_defaults_are_the_policys_defaults_but_that_prompt_caches_are_heeded():
    usual = PromptCache(lifetime_ms=300_000, minimum=1024, write=1.25, read=0.1)
    differing = {"floor": 3_000, "reflect_from": 36_000, "timing": "cache", "cache": usual}

    assert MemorySettings().limits() == msgspec.structs.replace(Limits(), **differing)


@pytest.mark.parametrize(
    ("settings", "cache"),
    [
        ({"actor_model": "openai/gpt-5.2"}, (300_000, 1024, 1.0, 0.1)),
        ({"actor_model": "Claude-Sonnet-4-6"}, (300_000, 1024, 1.25, 0.1)),
        ({"actor_model": "deepseek-v4-pro"}, (3_600_000, 64, 1.0, 0.1)),
        ({"actor_model": "of-our-own"}, (300_000, 1024, 1.25, 0.1)),
        ({"actor_model": "gpt-4.1", "prompt_cache": {"lifetime": "1h", "minimum": 0}}, (3_600_000, 0, 1.0, 0.25)),
        ({"prompt_cache": {"lifetime": "0s"}}, (0, 1024, 1.25, 0.1)),
    ],
)
def test_the_prompt_cache_is_that_of_the_agents_model_unless_it_is_set(settings, cache):
    assert msgspec.structs.astuple(MemorySettings.model_validate(settings).limits().cache) == cache


@pytest.mark.parametrize(
    ("settings", "limits"),
    [
        ({"buffer_tokens": 0.5}, {"buffer_tokens": 15_000}),
        ({"buffer_tokens": 1}, {"buffer_tokens": 1}),
        ({"buffer_tokens": 29_999}, {"buffer_tokens": 29_999}),
        ({"message_threshold": 999}, {"buffer_tokens": 200, "floor": 100, "block_after": 1_199}),
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


@pytest.mark.parametrize(("said", "means"), [("off", "off"), ('"off"', "off"), ("ask", "ask")])
def test_an_off_without_quotes_is_no_false(tmp_path, said, means):
    """Catches YAML 1.1, which reads a bare off as false."""
    (tmp_path / "observational-memory.yaml").write_text(f"observational_memory: {{reflection: {{review: {said}}}}}\n")

    assert load_settings(tmp_path, {}).memory.reflection.review == means


@pytest.mark.parametrize("said", ["on", "no way", "true", "0"])
def test_a_review_that_is_neither_off_nor_ask_is_refused(tmp_path, said):
    (tmp_path / "observational-memory.yaml").write_text(f"observational_memory: {{reflection: {{review: {said}}}}}\n")

    with pytest.raises(SettingsError, match=r"reflection.review .*permitted: off or ask"):
        load_settings(tmp_path, {})
