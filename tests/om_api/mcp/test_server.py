"""The server: what it says of itself, and what it offers."""

import pytest
from mcp import MCPError

from om_api import load_settings
from om_api.domain.extras import installed


def test_it_says_who_it_is_and_how_it_is_used(host):
    async def asked(client):
        return client.server_info, client.instructions, client.server_capabilities

    who, about, offers = host.ask(asked)

    assert (who.name, who.version) == ("cortex-om", installed())
    assert about == "a memory"
    assert all((offers.tools, offers.resources, offers.prompts))
    assert not offers.resources.subscribe


def test_a_resource_that_cannot_be_read_now_is_told_with_what_to_do(host):
    host.settings = load_settings(None, {"OM_REDIS_URL": "redis://u:secret@127.0.0.1:1/0"})

    async def asked(client):
        with pytest.raises(MCPError) as caught:
            await client.read_resource("om://harold/threads/t-1/context")
        return str(caught.value)

    told = host.ask(asked)

    assert "the store did not answer" in told
    assert "secret" not in told
