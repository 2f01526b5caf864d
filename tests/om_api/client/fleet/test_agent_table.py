"""The table in any order, filtered and in pages, however it changes: as sorting all of it anew would have it."""

import random

import pytest

from om_api.client.fleet import agent_table
from om_api.client.fleet.agent_rows import STATES, Row, waits_since
from om_api.client.fleet.agent_table import COLUMNS, AgentTable, Filter, value_of

ALL = Filter()


def filled(**pressures):
    table = AgentTable()
    table.put({name: Row(pressure=pressure).standing() for name, pressure in pressures.items()})
    return table


def names(table, column="pressure", wanted=ALL, descending=True, limit=1_000):
    return table.page(wanted, column, None, limit, descending=descending).names


def pages(table, column, limit, descending):
    place, found = None, []
    while True:
        page = table.page(ALL, column, place, limit, descending=descending)
        found.append(page.names)
        if (place := page.last) is None:
            return found


@pytest.mark.parametrize(("descending", "found"), [(True, ["b", "d", "a", "c"]), (False, ["c", "a", "d", "b"])])
def test_agents_come_in_order_equal_ones_by_name(descending, found):
    assert names(filled(a=0.5, b=0.9, c=0.1, d=0.5), descending=descending) == found


@pytest.mark.parametrize("descending", [True, False])
def test_pages_are_the_whole_in_order_and_none_twice(descending):
    table = filled(**{f"a-{n:03}": n % 7 for n in range(100)})
    found = pages(table, "pressure", 30, descending)

    assert [len(page) for page in found] == [30, 30, 30, 10]
    assert [name for page in found for name in page] == names(table, descending=descending)


def test_an_order_stays_right_while_agents_come_go_and_change(monkeypatch):
    """Each change is put in its place in the kept order; breaks where one that moved is looked for by its new value."""
    monkeypatch.setattr(agent_table, "_ANEW", 2)
    dice, table, rows = random.Random(3), AgentTable(), {}
    for _ in range(200):
        changed = {f"a-{dice.randrange(60)}": Row(pressure=dice.randrange(5), at=dice.randrange(9)) for _ in range(9)}
        rows |= changed
        table.put(changed)
        gone = [name for name in rows if dice.random() < 0.05]
        table.remove(gone)
        rows = {name: row for name, row in rows.items() if name not in gone}
        for column, field in (("pressure", "pressure"), ("activity", "at"), ("resource", None)):
            place = {name: ((getattr(row, field) if field else 0), name) for name, row in rows.items()}
            assert names(table, column, descending=False) == sorted(rows, key=place.__getitem__)


def test_more_orders_than_are_kept_are_right_as_well():
    table = filled(a=0.5, b=0.9)
    for column in (*COLUMNS, *COLUMNS):
        names(table, column)
    table.put({"c": Row(pressure=0.7)})

    assert names(table) == ["b", "c", "a"]
    assert len(table._orders) == agent_table.ORDERS


def test_states_and_parts_of_names_filter_and_are_counted():
    table = filled(**{"worker-1": 1, "worker-2": 2, "other-1": 3})
    table.put({"worker-2": Row(pressure=2, paused=True).standing()})

    assert names(table, wanted=Filter(search="worker")) == ["worker-2", "worker-1"]
    assert names(table, wanted=Filter("paused", "worker")) == ["worker-2"]
    assert names(table, wanted=Filter("paused", "other")) == []
    assert [table.page(Filter(state), "cost", None, 1, descending=True).matching for state in ("paused", "ok")] == [
        1,
        2,
    ]
    assert table.page(Filter(search="1"), "cost", None, 1, descending=True).matching == 2
    assert {state: n for state, n in table.states().items() if n} == {"paused": 1, "ok": 2}

    table.remove(["other-1"])
    assert table.page(Filter(search="1"), "cost", None, 1, descending=True).matching == 1


def test_the_few_of_a_state_come_in_order_and_in_pages_too():
    table = filled(**{f"a-{n:04}": n for n in range(1_000)})
    table.put(
        {name: Row(pressure=pressure, paused=True).standing() for name, pressure in {"b": 5, "c": 7, "d": 6}.items()}
    )
    paused = Filter("paused")
    first = table.page(paused, "pressure", None, 2, descending=True)

    assert table._few(paused) == {"b", "c", "d"}
    assert (first.names, first.matching) == (["c", "d"], 3)
    assert table.page(paused, "pressure", first.last, 2, descending=True).names == ["b"]
    assert names(table, wanted=paused, descending=False) == ["b", "d", "c"]


def test_who_waits_is_taken_up_and_who_does_not_any_more():
    table = filled(a=0.1, b=0.2, c=0.3)
    table.waiting({"a": 1_000, "b": 500, "nobody": 1}, whole=True)
    assert (names(table, "lag"), table.states()["waiting"]) == (["b", "a", "c"], 2)

    table.waiting({"a": 1_000}, whole=False)
    assert table.row("b").waits == waits_since(500)

    table.waiting({"a": 1_000}, whole=True)
    assert (table.row("b").waits, STATES[table.row("b").state], table.states()["waiting"]) == (0, "ok", 1)


def test_those_of_an_earlier_round_go_and_those_heard_of_longest_ago():
    table = AgentTable()
    table.put({f"a-{n}": Row(round=n, at=n) for n in range(5)})
    table.keep_round(2)
    assert names(table, "resource", descending=False) == ["a-2", "a-3", "a-4"]

    table.keep_newest(2)
    assert names(table, "resource", descending=False) == ["a-3", "a-4"]


def test_every_column_is_one_of_a_row():
    packed = Row(*range(1, 17)).packed()

    assert len({value_of(column)(packed) for column in COLUMNS}) == len(COLUMNS)
