import pytest

from om_bench.judged.prompts import fingerprint, prompt, rule
from om_bench.judged.protocols import PROTOCOLS


def test_every_rule_that_a_protocol_names_is_there():
    for name in ("plain", "temporal", "update", "preference", "declined", "generous"):
        assert rule(name).startswith(("Yes if", "What"))

    with pytest.raises(KeyError):
        rule("unheard")
    assert set(PROTOCOLS) == {"longmemeval", "locomo", "beam"}


def test_a_day_off_by_one_is_right_where_time_is_asked_for_only():
    assert "off by one" in rule("temporal")
    assert "off by one" not in rule("plain")


def test_another_prompt_is_another_fingerprint(monkeypatch):
    before = fingerprint()
    fingerprint.cache_clear()
    monkeypatch.setattr("om_bench.judged.prompts.prompt", lambda name: prompt(name) + "!")
    try:
        assert fingerprint() != before
    finally:
        fingerprint.cache_clear()
