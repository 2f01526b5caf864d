"""An agent's settings: ranges, contradictions, and the limits that follow."""

import re

import msgspec

from om_api.domain.policy import Limits
from om_api.domain.timing.prompt_cache import PromptCache
from om_api.settings import MemorySettings
from om_api.settings.catalogue import SETTINGS, about
from om_api.settings.sections.fields import parse_duration

WRONG = {"message_threshold": ("30000.5", "true", "'30000'", "null", "[1]"), "scope": ("user",),
         "preset": ("large", "[small]"),
         "timezone": ("Mars/Olympus", "America", "localtime", "posix/Europe/Berlin", "../etc/passwd", "3"),
         "tokenizer": ("cl100k",), "buffer_tokens": ("0", "1.5", "false", ".nan", ".inf"),
         "buffer_activation": ("0", "1.01", "999"), "block_after": ("0.9", ".inf"),
         "observe_idle_after": ("-1", "soon"),
         "context_max_tokens": ("0", "99", "500.5", "true", "automatic", "10000001"),
         "observer_model": ("[]", "''", "null", "[a, 3]"), "observer.prompt": ("own",), "observer.timeout": ("0",),
         "reflection.buffer_activation": ("0", "1.1"), "reflection.drain": ("maybe",),
         "budget.tokens_per_day": ("-1", "1.5", "much"), "total_budget.then": ("stop",), "actor_model": ("[a]",),
         "storage.redis.prefix": ("''", *(f"'a{sign}b'" for sign in "{}*?[]^/|~%() ")),
         "storage.redis.url": ("'http://x'", "'redis://'"), "observer_interval": ("0s",)}  # fmt: skip


def test_a_value_out_of_range_names_file_key_and_what_is_permitted(folder):
    for key, values in WRONG.items():
        for value in values:
            stated = f"{key.replace('.', ': {')}: {value}{'}' * key.count('.')}"
            file = folder.settings(stated)
            refusal = folder.refused()
            assert refusal.startswith(f"{file}, line 1: {key} is "), stated
            assert "permitted: " in refusal, stated
            assert len(refusal.splitlines()) == 1, stated


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


def test_a_number_may_be_all_that_its_permitted_range_says_and_nothing_else():
    """Catches a range whose words and bounds are written down one beside the other, and differ."""
    for path in NUMBERS:
        described = about(path)
        read = parse_duration if described["unit"] == "duration" else float
        least, most = (read(end.replace(",", "")) for end in RANGE.match(described["permitted"]).group("least", "most"))
        step, number = (1, int) if "int" in str(SETTINGS[path].annotation) else (0.001, float)
        assert [_takes(path, number(value)) for value in (least, most)] == [True, True], path
        assert [_takes(path, number(value)) for value in (least - step, most + step)] == [False, False], path


def test_a_contradiction_names_file_and_keys_and_what_is_permitted(folder):
    for text, keys in [
        ("buffer_tokens: 30000", ("buffer_tokens", "message_threshold", "1 to 29,999")),
        ("message_threshold: 100, buffer_tokens: 0.001", ("buffer_tokens",)),
        ("buffer_activation: 30000", ("buffer_activation", "message_threshold", "1,000 to 29,999")),
        ("block_after: 29999", ("block_after", "message_threshold", "30,000 tokens or more")),
        ("reflection: {block_after: 39999}", ("reflection.block_after", "observation_threshold")),
        (
            "reflection: {mode: archive, archive: {keep_tokens: 40000}}",
            ("reflection.archive.keep_tokens", "1 to 39,999"),
        ),
        ("reflection: {mode: archive, review: ask}", ("reflection.review", "reflection.mode", "review off")),
        ("model: a, observer_model: b", ("model", "observer_model")),
        ("model: a, reflector_model: b", ("model", "reflector_model")),
        ("storage: {redis: {url: 'redis://a', host: b}}", ("storage.redis", "url", "host")),
        ("storage: {redis: {url: 'redis://a', db: 1}}", ("storage.redis", "url", "db")),
    ]:
        file = folder.settings(text)
        refusal = folder.refused()
        assert refusal.startswith(f"{file}, line 1: {keys[0]}"), (text, keys)
        assert [key for key in (*keys, "permitted: ") if key not in refusal] == [], (text, keys)


def test_the_defaults_are_the_policys_defaults_but_that_prompt_caches_are_heeded():
    usual = PromptCache(lifetime_ms=300_000, minimum=1024, write=1.25, read=0.1)
    differing = {"floor": 3_000, "reflect_from": 36_000, "timing": "cache", "cache": usual}
    assert MemorySettings().limits() == msgspec.structs.replace(Limits(), **differing)


def test_the_prompt_cache_is_that_of_the_agents_model_unless_it_is_set():
    for settings, cache in (
        ({"actor_model": "openai/gpt-5.2"}, (300_000, 1024, 1.0, 0.1)),
        ({"actor_model": "Claude-Sonnet-4-6"}, (300_000, 1024, 1.25, 0.1)),
        ({"actor_model": "deepseek-v4-pro"}, (3_600_000, 64, 1.0, 0.1)),
        ({"actor_model": "gpt-4.1", "prompt_cache": {"lifetime": "1h", "minimum": 0}}, (3_600_000, 0, 1.0, 0.25)),
        ({"prompt_cache": {"lifetime": "0s"}}, (0, 1024, 1.25, 0.1)),
    ):
        found = MemorySettings.model_validate(settings).limits().cache
        assert msgspec.structs.astuple(found) == cache, settings


def test_limits_are_whole_tokens_and_milliseconds():
    for settings, limits in (({"buffer_tokens": 0.5}, {"buffer_tokens": 15_000}),
                             ({"buffer_tokens": 1}, {"buffer_tokens": 1}),
                             ({"message_threshold": 999}, {"buffer_tokens": 200, "floor": 100, "block_after": 1_199}),
                             ({"buffer_activation": 1}, {"floor": 0}), ({"buffer_activation": 1_000}, {"floor": 1_000}),
                             ({"buffer_activation": 0.3}, {"floor": 21_000}),
                             ({"block_after": 1}, {"block_after": 30_000}),
                             ({"block_after": 99.5}, {"block_after": 2_985_000}),
                             ({"message_threshold": 100, "block_after": 100}, {"block_after": 100}),
                             ({"block_after": 30_000}, {"block_after": 30_000}),
                             ({"reflection": {"buffer_activation": 1.0}}, {"reflect_from": 40_000}),
                             ({"reflection": {"block_after": 50_000}}, {"reflect_block": 50_000}),
                             ({"observe_idle_after": "1m30s"}, {"observe_idle_ms": 90_000}),
                             ({"scope": "thread"}, {"drain": False}),
                             ({"scope": "thread", "reflection": {"drain": True}}, {"drain": True}),
                             ({"reflection": {"drain": False}}, {"drain": False}),
                             (same := {"enabled": False, "read_only": True, "share_token_budget": True}, same),
                             (same := {"min_recent_messages": 0, "max_observations": 7}, same)):  # fmt: skip
        resolved = MemorySettings.model_validate(settings).limits()
        assert {key: getattr(resolved, key) for key in limits} == limits, settings


def test_a_review_is_off_or_ask_and_an_off_without_quotes_is_no_false(folder):
    """Catches YAML 1.1, which reads a bare off as false."""
    for said, means in (("off", "off"), ('"off"', "off"), ("ask", "ask")):
        folder.settings(f"reflection: {{review: {said}}}")
        assert folder.load().memory.reflection.review == means, said
    for said in ("on", "no way", "true", "0"):
        folder.settings(f"reflection: {{review: {said}}}")
        assert "permitted: off or ask" in folder.refused(), said


def test_lists_are_dumped_without_a_warning():
    said = {
        "observer_model": ["a", "b"],
        "redaction": {"kinds": ["email"]},
        "api": {"cors_origins": ["https://a.example"]},
    }
    dumped = MemorySettings.model_validate(said).model_dump(mode="json")  # warnings are errors here
    assert dumped["observer_model"] == ["a", "b"]
