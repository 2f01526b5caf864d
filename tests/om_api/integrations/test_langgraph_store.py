"""Without LangGraph its store says what brings it; what it does is tested beside the framework, in tests/adapters."""

import importlib

import pytest

from om_api.domain.extras import MissingExtraError


def test_the_store_without_its_framework_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "langgraph", None)

    with pytest.raises(MissingExtraError, match=r"langgraph.+cortex-om\[langchain\]"):
        importlib.import_module("om_api.integrations.langgraph_store")
