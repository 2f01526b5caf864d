"""Which model answers for a name."""

import subprocess
import sys

import pytest
from structlog.testing import capture_logs

from om_api import load_settings
from om_api.domain.errors import ModelError
from om_workers.calls.registry import Registry
from om_workers.llm.extractive import Extractive

TIERS = "[{up_to: 1000, model: small}, {up_to: 2000, model: middle}]"
SCRIPTED = {"OM_MODELS__SMALL__PROVIDER": "scripted", "OM_MODELS__MIDDLE__PROVIDER": "scripted"}


def registry(**environ):
    return Registry(load_settings(environ={**SCRIPTED, **environ}))


@pytest.mark.parametrize(
    ("tokens", "name"), [(0, "small"), (1000, "small"), (1001, "middle"), (2000, "middle"), (2001, "smart")]
)
def test_a_request_is_answered_by_the_smallest_tier_that_holds_it(tokens, name):
    models = registry(OM_MODELS__SMART__TIERS=TIERS, OM_MODELS__SMART__PROVIDER="scripted")

    assert models.model_for("smart", tokens).name == name


def test_above_the_largest_tier_of_a_model_without_a_provider_nobody_is_asked_and_the_request_is_at_fault():
    models = registry(OM_MODELS__SMART__TIERS=TIERS)
    with pytest.raises(ModelError, match="smart has no tier for 2,001 tokens, its largest is up to 2,000") as caught:
        models.model_for("smart", 2001)

    assert not caught.value.retryable


def test_a_tier_is_the_same_model_that_answers_under_its_own_name():
    models = registry(OM_MODELS__SMART__TIERS=TIERS)

    assert models.model_for("smart", 5) is models.model_for("small", 999_999)


def test_a_tier_whose_key_is_missing_cannot_be_used_and_is_said_once():
    models = registry(OM_MODELS__SMART__TIERS="[{up_to: 1000, model: gpt-x}]")
    with capture_logs() as logs:
        assert [models.model_for("smart", 5), models.model_for("smart", 6)] == [None, None]

    assert [(said["event"], said["model"]) for said in logs] == [("model_not_available", "gpt-x")]


def test_a_name_by_itself_is_no_tier_of_it_and_where_it_is_nobody_its_reason_is_told():
    models = registry(
        OM_MODELS__SMART__TIERS=TIERS, OM_MODELS__SMART__PROVIDER="scripted", OM_MODELS__SIZED__TIERS=TIERS
    )

    assert models.itself("smart").name == "smart"
    for name, why in (("gpt-x", "OPENAI_API_KEY holds no key; set it"), ("sized", "try its tiers, small, middle")):
        with pytest.raises(ModelError, match=why) as caught:
            models.itself(name)
        assert not caught.value.retryable


def test_without_a_usable_name_the_extractive_model_answers():
    assert isinstance(registry().model(["gpt-x"]), Extractive)


def test_a_provider_that_does_not_exist_is_answered_with_those_that_do():
    with capture_logs() as logs:
        assert registry(OM_MODELS__MINE__PROVIDER="vertex").model_for("mine", 5) is None

    assert logs[0]["reason"] == "there is no provider vertex; permitted: extractive, gemini, openai, scripted"


@pytest.mark.parametrize(
    ("name", "module", "sdk"), [("gpt-x", "openai_compatible", "openai"), ("gemini-x", "gemini", "google.genai")]
)
def test_a_provider_whose_sdk_is_not_installed_is_answered_with_what_installs_it(monkeypatch, name, module, sdk):
    """Breaks when an ImportError gets through: every task would end with a traceback."""
    monkeypatch.delitem(sys.modules, f"om_workers.llm.{module}", raising=False)
    monkeypatch.setitem(sys.modules, sdk, None)
    with capture_logs() as logs:
        assert registry(OPENAI_API_KEY="k", GEMINI_API_KEY="k").model_for(name, 5) is None

    assert logs[0]["reason"] == f"{sdk} is not installed: pip install 'cortex-om[workers]' brings it"


def test_a_process_that_asks_no_model_imports_no_sdk_and_reads_no_vocabulary():
    slow = {"openai", "google.genai", "tiktoken"}
    asked = [sys.executable, "-c", f"import sys, om_workers.app; print({slow} & {{*sys.modules}})"]

    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "set()\n"
