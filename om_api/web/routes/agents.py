"""All agents, sorted, filtered and in pages."""

from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Depends, Query, Request, Response

from om_api.client.fleet.agent_rows import State
from om_api.client.fleet.agent_table import Column
from om_api.http.requests.app_state import app_state
from om_api.http.requests.guard import key_of
from om_api.http.requests.parameters import Cursor
from om_api.web.pages.page_route import PageRoute, may, shows
from om_api.web.pages.rendering import page

router = APIRouter(prefix="/agents", route_class=PageRoute)
_PAGE = 50


class AgentColumn(NamedTuple):
    """A column of the page; `aligned` right where it holds numbers."""

    name: Column
    title: str
    is_number: bool = True


_COLUMNS = (
    AgentColumn("resource", "Agent", is_number=False),
    AgentColumn("pressure", "Raw", is_number=False),
    AgentColumn("fill", "Observations", is_number=False),
    AgentColumn("chunks", "Chunks"),
    AgentColumn("lag", "Waits"),
    AgentColumn("compression", "Compression"),
    AgentColumn("generation", "Generation"),
    AgentColumn("cost", "Cost today"),
    AgentColumn("budget", "Budget used", is_number=False),
    AgentColumn("activity", "Last message", is_number=False),
)


class AgentsAsked(NamedTuple):
    """What the address says; "" for whatever it leaves open."""

    sort: Column
    descending: bool
    state: State | None
    search: str
    cursor: str | None

    def words(self, **other: Any) -> dict[str, str]:
        """An address that asks for something else, from the first page on unless it says otherwise."""
        said = {**self._asdict(), "cursor": None, **other}
        return {name: str(value) for name, value in said.items() if value not in {None, ""}}


async def _asked(
    *,
    sort: Column = "pressure",
    descending: bool = True,
    state: State | Literal[""] = "",
    search: Annotated[str, Query(max_length=200)] = "",
    cursor: Cursor = None,
) -> AgentsAsked:
    return AgentsAsked(sort, descending, state or None, search.strip(), cursor or None)


@router.get("", **shows())
async def show_agents(request: Request, asked: Annotated[AgentsAsked, Depends(_asked)]) -> Response:
    """The table, of the agents that the key is bound to."""
    among = key_of(request).bound
    found = await app_state(request).memory.agents(**asked._asdict(), limit=_PAGE, among=among)
    return page(request, "agents.html", found=found, asked=asked, columns=_COLUMNS, may=may(request))
