import inspect
import re
from collections.abc import Iterator

from om_bench.speed import (
    activating,
    archiving,
    context,
    extracting,
    idling,
    measure,
    recalling,
    remembering,
    syncing,
    tracing,
    working,
    writing,
)
from om_bench.speed.measure import ROOMS, Measured, as_lines
from om_bench.speed.stand import Figure

FIGURES = [
    Figure(work="a", ours="2 us", reference="1 us", value=2, reach=3),
    Figure(work="b", ours="", reference="", value=5.5, reach=400, unit="calls", at_least=True),
    Figure(work="c", ours="", reference="", value=1_000, reach=None),
]


def test_each_figure_is_a_row_with_what_is_to_be_reached_and_whether_it_was():
    assert list(as_lines(Measured("2026-11-23", "2 cores", FIGURES))) == [
        "Measured on 2026-11-23: 2 cores.",
        "",
        "| work | ours | reference | value | reach | met |",
        "|---|---|---|---|---|---|",
        "| a | 2 us | 1 us | 2.00 x | <= 3 x | yes |",
        "| b |  |  | 5.50 calls | >= 400 calls | **no** |",
        "| c |  |  | 1,000.00 x | - | - |",
    ]


def test_the_rooms_that_are_named_are_asked_in_their_order_else_all_of_them(private_server_url, monkeypatch):
    monkeypatch.setattr(
        measure, "ROOMS", {name: lambda _, n=n: iter(FIGURES[n : n + 1]) for n, name in enumerate("abc")}
    )
    some, every = measure.measure(private_server_url, ["c", "a"]), measure.measure(private_server_url, [])

    assert [figure.work for figure in some.figures] == ["c", "a"]
    assert every.figures == FIGURES
    assert re.search(r"\d+ cores, .* redis-py \d\S+, (Redis|Valkey) \d", some.machine)


def test_whatever_measures_on_a_stand_is_in_the_report_once():
    """Breaks when something is measured by nobody: its module has it, and no name leads there."""
    modules = (
        *(
            activating,
            archiving,
            context,
            extracting,
            idling,
            recalling,
            remembering,
            syncing,
            tracing,
            working,
            writing,
        ),
    )
    measures = {
        each
        for module in modules
        for name, each in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and inspect.signature(each).return_annotation == Iterator[Figure]
    }

    assert set(ROOMS.values()) == measures
    assert len(ROOMS) == len(measures)
