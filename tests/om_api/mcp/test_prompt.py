"""The prompt: how to use the memory, naming tools and arguments that there are."""

import re

import pytest
from mcp import MCPError

from om_api.mcp.prompt import GUIDANCE
from om_api.mcp.toolbox import TOOLS


def text_of(host, **given):
    async def asked(client):
        return await client.get_prompt("use_memory", given)

    (message,) = host.ask(asked).messages
    return message.content.text


def test_it_names_every_way_to_use_the_memory():
    named = {*re.findall(r"\b[a-z]+_[a-z]+\b|\b(?:recall|browse|sources|forget|observations)\b", GUIDANCE)}

    assert named >= {"get_context", "add_messages", "recall", "browse", "sources", "forget", "observations"}
    assert named <= {*TOOLS, "thread_id"}


def test_what_is_known_of_the_conversation_is_said(host, anybody):
    assert text_of(host, thread_id="t-9").endswith(
        "Use thread_id 't-9': the conversation that begins or goes on.\nUse resource_id 'harold': whose memory it is."
    )
    assert text_of(anybody) == f"{GUIDANCE}"


def test_what_is_said_already_is_not_asked_for(host, having):
    async def asked(client):
        return (await client.list_prompts()).prompts

    (one,), (other,) = host.ask(asked), having("reader", "harold", thread="t-1").ask(asked)

    assert [argument.name for argument in one.arguments] == ["thread_id"]
    assert other.arguments == []


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("use_memory", {"thread_id": "a b"}, "is not an id"),
        ("use_memory", {"thread": "t"}, "permitted are resource_id, thread_id"),
        ("other", {}, "use_memory is the one"),
    ],
)
def test_what_cannot_be_asked_is_refused(host, name, given, why):
    async def asked(client):
        with pytest.raises(MCPError, match=why):
            await client.get_prompt(name, given)

    host.ask(asked)
