"""The table of all agents as a process holds it: in any order, filtered and in pages, without looking at all of them."""

import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from operator import itemgetter
from struct import Struct
from typing import Literal, NamedTuple, TypeAlias, get_args

from om_api.client.fleet.agent_rows import STATE_AT, STATES, Row, State, unpacked, waits_since

Column = Literal[
    "resource", "pressure", "fill", "message_tokens", "chunk_tokens", "observation_tokens", "reflection_tokens",
    "generation", "chunks", "lag", "compression", "cost", "budget", "rejected", "activity",
]  # fmt: skip
COLUMNS: tuple[Column, ...] = get_args(Column)
ORDERS = 4  # that are kept in order while agents change
_ANEW = 200  # sorting all of them takes as long as putting one in 200 of them in its place
_FIELDS = {"lag": "waits", "cost": "micros", "activity": "at"}
_VALUE = Struct("<d")
Rows: TypeAlias = dict[str, bytes]


class Filter(NamedTuple):
    """Which agents are wanted: of a state, if it is one, and with a text in their names."""

    state: State | None = None
    search: str = ""


class TablePlace(NamedTuple):
    """Where an agent stands in an order."""

    value: float
    resource: str


class TablePage(NamedTuple):
    """Some agents in their order, the place of the last one if others follow, and how many are wanted in all."""

    names: list[str]
    last: TablePlace | None
    matching: int


def value_of(column: Column) -> Callable[[bytes], float]:
    """What a packed row has in a column; of the names, which are told apart by themselves, nothing."""
    if column == "resource":
        return lambda _: 0.0
    offset = 8 * Row._fields.index(_FIELDS.get(column, column))
    return lambda row: float(_VALUE.unpack_from(row, offset)[0])


_late = value_of("lag")


class _Order:
    """All names by what they have in a column, least first. What has `moved` since stands where it stood, by its old value."""

    def __init__(self, column: Column) -> None:
        self.value = value_of(column)
        self.names: list[str] | None = None
        self.moved: dict[str, float | None] = {}

    def note(self, name: str, before: bytes | None, after: bytes | None) -> None:
        """Note that an agent came, went, or has another value."""
        was = None if before is None else self.value(before)
        if was is None or after is None or was != self.value(after):
            self.moved.setdefault(name, was)

    def settle(self, rows: Rows, by_name: list[str] | None) -> list[str]:
        """The names in order; of equal ones as they stand in `by_name`, in the order that is asked for if that is None."""
        if self.names is None or len(self.moved) * _ANEW > len(self.names):
            value = self.value
            self.names = sorted(rows) if by_name is None else sorted(by_name, key=lambda name: value(rows[name]))
        elif self.moved:
            self._put_in_place(self.names, rows)
        self.moved = {}
        return self.names

    def _put_in_place(self, names: list[str], rows: Rows) -> None:
        moved = self.moved

        def stood(name: str) -> TablePlace:
            was = moved.get(name)
            return TablePlace(self.value(rows[name]) if was is None else was, name)

        for name, was in moved.items():
            if was is not None:
                del names[bisect_left(names, TablePlace(was, name), key=stood)]
        for name in filter(rows.__contains__, moved):
            names.insert(bisect_left(names, self.place(rows, name), key=lambda each: self.place(rows, each)), name)

    def place(self, rows: Rows, name: str) -> TablePlace:
        """Where an agent stands."""
        return TablePlace(self.value(rows[name]), name)


class AgentTable:
    """Rows by name. Threads share it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: Rows = {}
        self._in_state: defaultdict[int, set[str]] = defaultdict(set)
        self._waiting: set[str] = set()
        self._by_name = _Order("resource")
        self._orders: dict[Column, _Order] = {}  # the one that was asked for last comes last
        self._matching: tuple[Filter, int] | None = None  # what was counted last, while it holds

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def row(self, name: str) -> Row | None:
        """What is known of an agent."""
        packed = self._rows.get(name)
        return None if packed is None else unpacked(packed)

    def put(self, rows: Mapping[str, Row]) -> None:
        """Take up what was read of agents."""
        with self._lock:
            for name, row in rows.items():
                self._set(name, row.packed())

    def remove(self, names: Iterable[str]) -> None:
        """Let agents go."""
        with self._lock:
            for name in names:
                if name in self._rows:
                    self._set(name, None)

    def _set(self, name: str, after: bytes | None) -> None:
        before = self._rows.get(name)
        for order in (self._by_name, *self._orders.values()):
            order.note(name, before, after)
        was, state = (None if row is None else row[STATE_AT] for row in (before, after))
        if was != state:
            self._matching = None
            if was is not None:
                self._in_state[was].discard(name)
            if state is not None:
                self._in_state[state].add(name)
        (self._waiting.add if after and _late(after) else self._waiting.discard)(name)
        if after is None:
            del self._rows[name]
        else:
            self._rows[name] = after

    def keep_round(self, number: int) -> None:
        """Let those go that were last read in an earlier round."""
        with self._lock:
            self.remove([name for name, row in self._rows.items() if unpacked(row).round < number])

    def keep_newest(self, most: int) -> None:
        """Let those go that were heard of longest ago, where there are more than `most`."""
        with self._lock:
            heard = value_of("activity")
            gone = sorted((heard(row), name) for name, row in self._rows.items())[: max(0, len(self) - most)]
            self.remove(map(itemgetter(1), gone))

    def waiting(self, since: Mapping[str, int], *, whole: bool) -> None:
        """Take up since when (Unix ms) agents have been due; where that is the `whole` of them, no other one is."""
        with self._lock:
            for name in {*since, *(self._waiting if whole else ())}:
                if (row := self.row(name)) and row.state:
                    self._set(name, row._replace(waits=waits_since(since.get(name, 0))).standing().packed())

    def begin_day(self) -> None:
        """Have nothing spent yet by anybody."""
        with self._lock:
            self.put({name: unpacked(row).on_a_new_day() for name, row in self._rows.items()})

    def states(self) -> dict[str, int]:
        """How many agents are in each state."""
        with self._lock:
            return {state: len(self._in_state[number]) for number, state in enumerate(STATES)}

    def settle(self) -> None:
        """Put in order what moved, so that no page waits for that."""
        with self._lock:
            for column in self._orders:
                self._settled(column)

    def _settled(self, column: Column) -> tuple[_Order, list[str]]:
        by_name = self._by_name.settle(self._rows, None)
        if column == "resource":
            return self._by_name, by_name
        order = self._orders.setdefault(column, _Order(column))
        return order, order.settle(self._rows, by_name)

    def page(
        self, wanted: Filter, column: Column, after: TablePlace | None, limit: int, *, descending: bool
    ) -> TablePage:
        """The agents behind a place in an order."""
        with self._lock:
            self._keep_order(column)
            order, names = self._settled(column)
            few = self._few(wanted)
            names = names if few is None else sorted(few, key=partial(order.place, self._rows))
            rest = self._behind(order, names, after, descending=descending)
            found = list(islice(self._taken(wanted, rest), limit + 1))
            last = order.place(self._rows, found[limit - 1]) if len(found) > limit else None
            return TablePage(found[:limit], last, self._count(wanted))

    def _keep_order(self, column: Column) -> None:
        if kept := self._orders.pop(column, None):
            self._orders[column] = kept
        elif len(self._orders) == ORDERS:
            del self._orders[next(iter(self._orders))]

    def _behind(self, order: _Order, names: list[str], after: TablePlace | None, *, descending: bool) -> Iterator[str]:
        def place(name: str) -> TablePlace:
            return order.place(self._rows, name)

        if descending:
            end = len(names) if after is None else bisect_left(names, after, key=place)
            return map(names.__getitem__, range(end - 1, -1, -1))
        return islice(names, 0 if after is None else bisect_right(names, after, key=place), None)

    def _few(self, wanted: Filter) -> set[str] | None:
        """The agents of a state if they are few: they are found without going through all the others."""
        some = None if wanted.state is None else self._in_state[STATES.index(wanted.state)]
        return some if some is not None and len(some) * _ANEW < len(self) else None

    def _taken(self, wanted: Filter, names: Iterable[str]) -> Iterator[str]:
        text, rows = wanted.search, self._rows
        if wanted.state is not None:
            number = STATES.index(wanted.state)
            names = (name for name in names if rows[name][STATE_AT] == number)
        return (name for name in names if text in name) if text else iter(names)

    def _count(self, wanted: Filter) -> int:
        if not wanted.search:
            return len(self) if wanted.state is None else len(self._in_state[STATES.index(wanted.state)])
        if self._matching is None or self._matching[0] != wanted:
            self._matching = wanted, sum(1 for _ in self._taken(wanted, self._rows))
        return self._matching[1]
