"""Looking at all agents: a page of them at once, whatever their number, of a table that is filled and kept fresh on the way."""

import threading
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from om_api.billing import budgets
from om_api.client.fleet.agent_rows import BROKEN, STATES, Agent, Row, State, agent_of, row_of
from om_api.client.fleet.agent_table import COLUMNS, AgentTable, Column, Filter, TablePage, TablePlace
from om_api.domain.errors import InvalidInputError
from om_api.domain.events import Wanted
from om_api.domain.values import check_id, shown
from om_api.settings import Settings
from om_api.store.driver.partitions import learn
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream, resource_summaries, resource_tiers, spending
from om_api.store.fleet.resource_summaries import ResourceSummary
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keys import Keys

AGENTS = 200_000  # that one process keeps a table of
FIRST = 1_000  # that the first look reads, and of each due index as many
PAGE = 200  # most of one page
FRESH_S = 2.0  # for which a table is taken as it is; the agents of a page are read anew all the same
ASKED_S = 120.0  # for which a table is kept fresh after somebody asked
_SLICE = 1_000  # agents of one step of a walk
_AGAIN_S = 600.0  # after a walk over all of them the next one
_CHANGED = 2_000  # agents that one look takes up, and events
_BEHIND_MS = 5_000  # so long a look may take that notes at its end when it began


class Agents(msgspec.Struct, frozen=True, kw_only=True):
    """A page of agents, and the `next` one's cursor, None on the last one; `matching` agents are wanted in all.

    Of `known` agents `read` were read so far: while that is not `complete`, others may come before those of the page.
    `left_out` are more than a table holds, those heard of longest ago. `states` is how many of those that were read are in each
    state. `as_of` (Unix ms) is when what changed was taken up last; the agents of the page were read just now.
    `budget_reached` is the setting of the budget of all agents that is used up, "" where none is, or it is not yours to know.
    """

    items: list[Agent]
    next: str | None
    matching: int
    known: int
    read: int
    complete: bool
    left_out: int
    states: dict[str, int]
    as_of: int
    budget_reached: str = ""


class AgentQuery(NamedTuple):
    """Which agents are asked for: a page of them in an order. `among` is all of them that may be looked at; None: everybody."""

    column: Column
    descending: bool
    wanted: Filter
    after: TablePlace | None
    limit: int
    among: tuple[str, ...] | None


def agent_query(
    sort: str,
    state: str | None,
    search: str,
    cursor: str | None,
    limit: int,
    among: Iterable[str] | None,
    *,
    descending: bool,
) -> AgentQuery:
    """What is asked for; raises InvalidInputError for what cannot be asked, naming what can."""
    column = next((each for each in COLUMNS if each == sort), None)
    stands: State | None = next((each for each in STATES if each == state), None)
    if column is None:
        raise InvalidInputError(f"sort is {sort[:40]!r}: use one of {', '.join(COLUMNS)}")
    if state and stands is None:
        raise InvalidInputError(f"state is {state[:40]!r}: use one of {', '.join(STATES)}")
    if not 1 <= limit <= PAGE:
        raise InvalidInputError(f"limit is {shown(limit)}: use 1 to {PAGE}")
    names = None if among is None else tuple(sorted({check_id(name, "resource_id") for name in among}))
    return AgentQuery(column, descending, Filter(stands, search), _place(cursor), limit, names)


def _place(cursor: str | None) -> TablePlace | None:
    if not cursor:
        return None
    value, _, name = cursor.partition(" ")
    try:
        return TablePlace(float(value), name)
    except ValueError:
        raise InvalidInputError(
            f"cursor {cursor[:40]!r} is none of ours: leave it out to begin at the first page"
        ) from None


class AgentReader:
    """Reads all agents of a store into a table, a slice at each call, and what changed since; answers from what is read."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys
        self._table = AgentTable()
        self._walk = _Walk()
        self._known = self._since = 0
        self._event = self._budget = ""
        self._asked = self._refreshed = float("-inf")
        self._busy = threading.Lock()

    def page(self, query: AgentQuery) -> Steps[Agents]:
        """A page of agents; who of them is not there any more is left out."""
        yield from learn(self._keys.layout)
        now = yield from due.server_ms()
        if query.among is not None:
            return (yield from self._among(query, query.among, now))
        self._asked = time.monotonic()
        if self._asked - self._refreshed > FRESH_S:
            yield from self._keep_up(now, FRESH_S)
        found = self._slice(self._table, query)
        looked = yield from self._read(found.names, now)
        agents = yield from self._told(query, looked, found.names, now)
        read = len(self._table)
        # what was read is all; the index names those a while that are gone
        whole = self._walk.done and self._known <= AGENTS
        known = read if whole else max(self._known, read)
        return Agents(
            items=agents,
            next=_cursor(found),
            matching=found.matching,
            known=known,
            read=read,
            complete=self._walk.done,
            left_out=max(0, known - AGENTS),
            states=self._table.states(),
            as_of=self._since,
            budget_reached=self._budget,
        )

    def _among(self, query: AgentQuery, names: Sequence[str], now: int) -> Steps[Agents]:
        """The same of some agents, who are all read."""
        own, looked = AgentTable(), (yield from self._look(names, now))
        own.put(looked.there)
        found = self._slice(own, query)
        return Agents(
            items=(yield from self._told(query, looked, found.names, now)),
            next=_cursor(found),
            matching=found.matching,
            known=len(own),
            read=len(own),
            complete=True,
            left_out=0,
            states=own.states(),
            as_of=now,
        )

    @staticmethod
    def _slice(table: AgentTable, query: AgentQuery) -> TablePage:
        return table.page(query.wanted, query.column, query.after, query.limit, descending=query.descending)

    def _told(self, query: AgentQuery, looked: "_AgentsFound", names: Sequence[str], now: int) -> Steps[list[Agent]]:
        """Agents as they are told, in their order as they stand now."""
        some = [looked.summaries[name] for name in names if name in looked.there and name in looked.summaries]
        said = yield from resource_summaries.last_said(self._keys, some, now)
        ready = yield from resource_summaries.ready_chunks(self._keys, some)
        there = {name: looked.there[name] for name in names if name in looked.there}
        rows = {name: row._replace(at=max(row.at, said.get(name, 0))) for name, row in there.items()}
        page = AgentTable()
        page.put(rows)
        order = page.page(Filter(), query.column, None, len(page), descending=query.descending).names
        return [agent_of(name, rows[name], now, ready.get(name, 0)) for name in order]

    # -- reading ------------------------------------------------------------------------------------------------------

    def read_on(self) -> Steps[bool]:
        """Go on with what a page would else have to wait for; False where nobody asked for one lately, or all is fresh."""
        clock = time.monotonic()
        if clock - self._asked > ASKED_S:
            return False
        now = yield from due.server_ms()
        yield from learn(self._keys.layout)
        yield from self._keep_up(now, FRESH_S / 2)
        self._table.settle()
        return not self._walk.done

    def _keep_up(self, now: int, fresh_s: float) -> Steps[None]:
        """Take up what changed, if that is longer ago, and walk on; nothing while somebody else is at it."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._refreshed > fresh_s:
                yield from self._refresh(now)
            yield from self._go_on(now)
            if len(self._table) > AGENTS + AGENTS // 20:
                self._table.keep_newest(AGENTS)
        finally:
            self._busy.release()

    def _refresh(self, now: int) -> Steps[None]:
        """Take up what changed: whom workers looked at, to whom something happened, and who waits."""
        if self._since and spending.day_of(self._since) != spending.day_of(now):
            self._table.begin_day()
        waited = yield from resource_summaries.lags(self._keys, now, FIRST)
        names = yield from self._changed(now)
        unmet = [name for name in waited if name not in self._table]
        yield from self._read(list(dict.fromkeys([*names, *unmet])), now)
        since = {name: now - ms for name, ms in waited.items()}
        self._table.waiting(since, whole=len(waited) < FIRST)
        total = yield from budgets.of_all(self._settings, self._keys, now)
        self._budget = next((left.setting for left in total if left.reached and left.then == "pause"), "")
        self._since, self._refreshed = now, time.monotonic()

    def _changed(self, now: int) -> Steps[list[str]]:
        """Whom to read anew; at the first look those that workers looked at last, and that cost most today."""
        if not self._since:
            self._event = yield from event_stream.end(self._keys)
            self._known, names = yield from resource_tiers.newest(self._keys, FIRST)
            return [*names, *(yield from spending.costliest(self._keys, [spending.day_of(now)]))]
        self._known, names = yield from resource_summaries.changed(self._keys, self._since - _BEHIND_MS, _CHANGED)
        told = yield from event_stream.since(self._keys, self._event, Wanted(), _CHANGED)
        self._event = told.after
        return [*names, *(event.resource for event in told.events if event.resource)]

    def _go_on(self, now: int) -> Steps[None]:
        """Walk over some more of all agents; those that a whole walk did not meet are gone."""
        walk, count = self._walk, self._keys.layout.now.count
        if walk.rests(count) and not (walk.done and len(self._table) > self._known):
            return
        walk.begin(count)
        left = _SLICE
        while left > 0:
            cursor, names = yield from keyspace_scan.some_resources(self._keys, walk.part, walk.cursor, _SLICE)
            left -= len(names)
            yield from self._read(self._with_room(names), now)
            if walk.go_on(cursor):
                self._table.keep_round(walk.number)
                return

    def _with_room(self, names: Sequence[str]) -> list[str]:
        """Those of some agents that are in the table, and of the others as many as it has room for."""
        known, room = [name for name in names if name in self._table], max(0, AGENTS - len(self._table))
        return [*known, *[name for name in names if name not in self._table][:room]]

    def _read(self, names: Sequence[str], now: int) -> Steps["_AgentsFound"]:
        """Read agents into the table; who is not there any more leaves it."""
        looked = yield from self._look(names, now)
        self._table.put(looked.there)
        self._table.remove([name for name in names if name not in looked.there])
        return looked

    def _look(self, names: Sequence[str], now: int) -> Steps["_AgentsFound"]:
        found = yield from resource_summaries.summaries(self._keys, names, now)
        there = {name: BROKEN._replace(round=self._walk.number) for name in names if name not in found}
        for name, one in found.items():
            if one.listed and one.holds:
                there[name] = row_of(self._settings, one, self._walk.number)
        return _AgentsFound(there, found)


class _AgentsFound(NamedTuple):
    """What was found of agents: how those stand that are there, and what was read of those that could be."""

    there: dict[str, Row]
    summaries: dict[str, ResourceSummary]


class _Walk:
    """How far a walk over all agents has come: in which part of their index, and where in it."""

    def __init__(self) -> None:
        self.number = self.part = self.cursor = self._parts = 0
        self.done = self._under_way = False
        self._ended = float("-inf")

    def rests(self, parts: int) -> bool:
        """Whether the last one ended not long ago, and the parts are those that it was over."""
        return not self._under_way and self._parts == parts and time.monotonic() - self._ended < _AGAIN_S

    def begin(self, parts: int) -> None:
        """Begin anew, if none is under way over so many parts."""
        if not self._under_way or self._parts != parts:
            self.number, self.part, self.cursor, self._parts = self.number + 1, 0, 0, parts
            self._under_way = True

    def go_on(self, cursor: int) -> bool:
        """Go on at a cursor of this part, or with the next one where it is 0; True at the end."""
        self.cursor, self.part = cursor, self.part + (not cursor)
        if self.part < self._parts:
            return False
        self.done, self._under_way, self._ended = True, False, time.monotonic()
        return True


def _cursor(found: TablePage) -> str | None:
    return f"{found.last.value!r} {found.last.resource}" if found.last else None
