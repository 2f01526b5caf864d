"""The server: what it says of itself, and what it offers."""

import pytest
from mcp import MCPError

from om_api import load_settings


def test_a_resource_that_cannot_be_read_now_is_told_with_what_to_do(host):
    host.settings = load_settings(None, {"OM_REDIS_URL": "redis://u:secret@127.0.0.1:1/0"})

    async def asked(client):
        with pytest.raises(MCPError) as caught:
            await client.read_resource("om://harold/threads/t-1/context")
        return str(caught.value)

    told = host.ask(asked)

    assert "the store did not answer" in told
    assert "secret" not in told
