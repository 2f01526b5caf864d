"""The tool by which a model keeps fields that are always before it."""

from typing import Annotated, Any

from pydantic import Field

from om_api.context.working_tool import kept_as
from om_api.domain.api_keys import Role
from om_api.domain.kept.working_memory import MOST_FIELDS
from om_api.mcp.arguments import Arguments, FromJson, OfThread, ResourceName
from om_api.mcp.tool import ADDS, MemoryTool, ToolServices

_FIELDS = 'what the fields that change are to say, by name; "" empties one'


class UpdateWorkingMemory(Arguments):
    """Keep what should always be before you: write the fields of your working memory that changed.

    Use it when you learn something that a field is for, or when what a field says no longer holds. get_context shows the fields.
    """

    resource_id: ResourceName
    fields: Annotated[dict[str, Any], Field(max_length=MOST_FIELDS, description=_FIELDS), FromJson]
    thread_id: OfThread = None


async def update_working_memory(services: ToolServices, asked: UpdateWorkingMemory) -> str:
    """What the working memory says then."""
    done = await services.memory.update_working_memory(
        asked.fields, asked.resource_id, asked.thread_id or None, by=services.caller.key.id
    )
    return kept_as(done)


TOOLS = (
    MemoryTool(
        "update_working_memory",
        "Keep what should always be in mind",
        Role.WRITER,
        UpdateWorkingMemory,
        update_working_memory,
        ADDS,
    ),
)
