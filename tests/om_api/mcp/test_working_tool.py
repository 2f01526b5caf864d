"""The working memory over MCP: a model keeps fields, and is told what it may."""

import pytest
from world import SMALL, World

from om_api import load_settings


@pytest.fixture
def settings(server_url, prefix):
    own = {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_WORKING_MEMORY__TEMPLATE": "- Name:\n- City:"}
    return load_settings(None, {**SMALL, **own})


@pytest.fixture
def world(client, prefix) -> World:
    return World(client, prefix, working_memory__template="- Name:\n- City:")


def test_a_model_keeps_what_should_always_be_before_it(world, host):
    answer = host("update_working_memory", fields={"City": "Graz"})

    assert answer.text == "Your working memory says now:\n- Name:\n- City: Graz"
    assert world.om.working_memory("harold").fields == {"City": "Graz"}
    assert host("update_working_memory", fields={"City": "Graz"}).text == "Your working memory says so already."
    assert host("update_working_memory", fields='{"Town": "x"}').failed
