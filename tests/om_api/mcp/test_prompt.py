"""The prompt: how to use the memory, naming tools and arguments that there are."""

import pytest
from mcp import MCPError

from om_api.mcp.prompt import GUIDANCE


def text_of(host, **given):
    async def asked(client):
        return await client.get_prompt("use_memory", given)

    (message,) = host.ask(asked).messages
    return message.content.text


def test_what_is_known_of_the_conversation_is_said(host, anybody):
    assert text_of(host, thread_id="t-9").endswith(
        "Use thread_id 't-9': the conversation that begins or goes on.\nUse resource_id 'harold': whose memory it is."
    )
    assert text_of(anybody) == f"{GUIDANCE}"


def test_what_cannot_be_asked_is_refused(host):
    for name, given, why in [
        ("use_memory", {"thread_id": "a b"}, "is not an id"),
        ("use_memory", {"thread": "t"}, "permitted are resource_id, thread_id"),
        ("other", {}, "use_memory is the one"),
    ]:

        async def asked(client, name=name, given=given, why=why):
            with pytest.raises(MCPError, match=why):
                await client.get_prompt(name, given)

        host.ask(asked)
