"""A framework that is missing, or too old, is said in one line with what brings it."""

import importlib

import pytest

from om_api.domain.extras import MissingExtraError
from om_api.integrations.importing import importing


def test_a_framework_that_is_not_installed_says_what_brings_it():
    with pytest.raises(MissingExtraError, match=r"nobody is not installed: pip install --upgrade 'cortex-om\[some\]'"):  # noqa: SIM117
        with importing("nobody", "some"):
            importlib.import_module("nobody")


def test_one_that_is_too_old_says_its_version_and_what_brings_a_newer_one():
    with pytest.raises(MissingExtraError, match=r"redis \d.+does not fit.+cortex-om\[some\]"):  # noqa: SIM117
        with importing("redis", "some"):
            from redis import NothingOfTheSort  # noqa: F401


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("langchain", "langchain", "langchain"),
        ("openai_agents", "agents", "openai-agents"),
        ("google_adk", "google.adk", "google-adk"),
    ],
)
def test_an_adapter_without_its_framework_says_so(name, module, extra, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingExtraError, match=f"cortex-om\\[{extra}\\]"):
        importlib.import_module(f"om_api.integrations.{name}")
