"""A tool: who may call it, what it may be asked, what hosts are told of it, and what it does."""

from collections.abc import Awaitable, Callable, Collection
from inspect import getdoc
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.api_keys import Role
from om_api.domain.message_tokens import Count
from om_api.language.calendar import zone_of
from om_api.mcp.arguments import Arguments, schema_of
from om_api.mcp.caller import Caller

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class ToolServices(NamedTuple):
    """What a call works with: the memory, who asks, and how tokens are counted."""

    memory: AsyncObservationalMemory
    caller: Caller
    count: Count

    def zone(self, resource: str) -> ZoneInfo:
        """The time zone of an agent, in which it is told of times."""
        return zone_of(self.memory.settings.for_agent(resource).timezone)


class MemoryTool(NamedTuple):
    """One tool; `run` answers a call in text, or raises an error of ours."""

    name: str
    title: str
    role: Role
    arguments: type[Arguments]
    run: Callable[[ToolServices, Any], Awaitable[str]]
    hints: ToolAnnotations = READS
    says: str = ""
    audited: str = ""  # the verb by which the audit trail tells of it; what an operator may do has one

    @property
    def description(self) -> str:
        """What a model is told of it: what it `says`, else what its arguments' docstring does."""
        return self.says or " ".join((getdoc(self.arguments) or "").split())

    def listed(self, said: Collection[str]) -> ListedTool:
        """It as a host lists it for a caller who has said some arguments already."""
        return ListedTool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema_of(self.arguments, said),
            annotations=self.hints,
        )
