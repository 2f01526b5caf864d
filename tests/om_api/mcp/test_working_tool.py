"""The working memory over MCP: a model keeps fields, and is told what it may."""

import pytest
from served import settings_of
from world import World


@pytest.fixture
def settings(settings):
    return settings_of(settings, working_memory__template="- Name:\n- City:")


@pytest.fixture
def world(client, prefix) -> World:
    return World(client, prefix, working_memory__template="- Name:\n- City:")


def test_a_model_keeps_what_should_always_be_before_it(world, host):
    answer = host("update_working_memory", fields={"City": "Graz"})

    assert answer.text == "Your working memory says now:\n- Name:\n- City: Graz"
    assert world.om.working_memory("harold").fields == {"City": "Graz"}
    assert host("update_working_memory", fields={"City": "Graz"}).text == "Your working memory says so already."
    assert host("update_working_memory", fields='{"Town": "x"}').failed
