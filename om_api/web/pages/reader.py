"""The memory that pages read, through the public client alone; looking at a context counts as no context served."""

from fastapi import Request

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.errors import NotFoundError


def reader(request: Request) -> AsyncObservationalMemory:
    """The pages' own client."""
    found: AsyncObservationalMemory = request.app.state.pages
    return found


async def reader_of(request: Request, resource: str) -> AsyncObservationalMemory:
    """The same; raises NotFoundError where nothing is kept of a resource."""
    if not await reader(request).is_known(resource):
        raise NotFoundError(
            f"Nothing is kept of {resource}: check the name, or wait until its first message was taken up by a worker."
        )
    return reader(request)


async def thread_of(memory: AsyncObservationalMemory, resource: str, name: str | None) -> str | None:
    """The thread that a page was asked for, by its own name where it was by an alias."""
    return (await memory.thread_aliases(resource)).get(name, name) if name else None
