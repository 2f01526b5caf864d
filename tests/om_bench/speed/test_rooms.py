from __future__ import annotations

import inspect

from om_bench.speed import activating, context, extracting, idling, working, writing
from om_bench.speed.rooms import ROOMS


def test_whatever_measures_on_a_stand_is_in_the_report_once():
    """Breaks when something is measured by nobody: its module has it, and no name leads there."""
    modules = (activating, context, extracting, idling, working, writing)
    measures = {
        each
        for module in modules
        for name, each in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and inspect.signature(each).return_annotation == "Iterator[Figure]"
    }

    assert set(ROOMS.values()) == measures
    assert len(ROOMS) == len(measures)
