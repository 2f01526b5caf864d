"""The memory as a host of MCP meets it, in memory: the SDK's client asks our server, which asks a real store."""

import asyncio
from typing import Any, NamedTuple

import pytest
from mcp.client import Client
from served import filled
from world import SMALL, World

from om_api import AsyncObservationalMemory, load_settings
from om_api.domain.api_keys import ApiKey, Role
from om_api.mcp.caller import Caller, caller_of, local_caller
from om_api.mcp.server import make_server
from om_api.settings import Settings


class Answer(NamedTuple):
    """What a call was answered."""

    text: str
    failed: bool


class Host:
    """Somebody who asks: `host("recall", query="flight")`. `caller` says who."""

    def __init__(self, settings: Settings, caller: Caller) -> None:
        self.settings, self.caller = settings, caller

    def __call__(self, tool: str, **given: Any) -> Answer:
        return self.ask(lambda client: self._called(client, tool, given))

    def at_once(self, *calls: tuple[str, dict[str, Any]]) -> list[Answer]:
        async def several(client):
            return await asyncio.gather(*(self._called(client, tool, given) for tool, given in calls))

        return self.ask(several)

    def tools(self) -> dict[str, Any]:
        async def listed(client):
            return {tool.name: tool for tool in (await client.list_tools()).tools}

        return self.ask(listed)

    def ask(self, question: Any) -> Any:
        """What a question to a connected client is answered."""

        async def asked():
            async with AsyncObservationalMemory(self.settings, timeout=5) as memory:
                server = make_server(memory, lambda _: self.caller, about="a memory")
                async with Client(server) as client:
                    return await question(client)

        return asyncio.run(asked())

    @staticmethod
    async def _called(client: Any, tool: str, given: dict[str, Any]) -> Answer:
        result = await client.call_tool(tool, given)
        (content,) = result.content
        assert result.structured_content is None
        return Answer(content.text, result.is_error)


def key(role: str, *resources: str) -> ApiKey:
    """A key as the store has it."""
    return ApiKey(id="0" * 12, role=Role(role), resources=resources, hash="", created_at=0)


@pytest.fixture
def settings(server_url: str, prefix: str) -> Settings:
    """What the server is told."""
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_TIMEZONE": "Asia/Tokyo"})


@pytest.fixture
def anybody(settings: Settings, client: Any) -> Host:
    """A host that has said nothing beforehand."""
    return Host(settings, local_caller())


@pytest.fixture
def host(settings: Settings, client: Any) -> Host:
    """Harold's host, as `om mcp --resource harold` has it."""
    return Host(settings, local_caller("harold"))


@pytest.fixture
def having(settings: Settings, client: Any) -> Any:
    """A host with a key: `having("reader", "harold")`."""
    return lambda role, *resources, **said: Host(settings, caller_of(key(role, *resources), **said))


@pytest.fixture
def noted(world: World) -> World:
    """Harold's memory of two threads, with observations."""
    filled("noted", world, _note)
    return world


def _note(world: World) -> None:
    for n in range(14):
        world.say(f"In t-{n % 2} it is said that parcel {n} lies in Oslo.", thread=f"t-{n % 2}")
        world.settle()
