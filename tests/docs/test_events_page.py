"""docs/events.md is what the code does: every kind with what it carries, every failure, every bound and number."""

import re
from pathlib import Path
from typing import get_args

import msgspec

from om_api.client.remembered import context_usage
from om_api.domain.errors import Why
from om_api.domain.events import BOUNDS, GAP, KINDS, Event, counts_of
from om_api.http.serving import limits
from om_api.settings import MemorySettings
from om_api.store.fleet import event_stream

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text()
TEXT = " ".join(PAGE.split())


def _rows(heading):
    """The cells of the table under a heading of its columns."""
    lines = PAGE.split(f"| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("| "))] for line in lines]


def test_every_kind_is_told_with_what_it_carries():
    told = {
        row[0].strip("`"): re.findall(r"`(\w+)`", row[2])
        for row in _rows("kind | what happened | carries, where it is known")
    }

    assert told == {kind: list(names) for kind, names in KINDS.items()}
    assert list(told) == list(KINDS)
    assert f"`{GAP}`" in PAGE


def test_every_field_of_an_event_is_carried_by_some_kind():
    names = {field.name for field in msgspec.structs.fields(Event)}

    assert names == {"id", "at", "kind", "resource", *(name for carried in KINDS.values() for name in carried)}


def test_every_kind_of_failure_is_explained():
    assert [row[0].strip("`") for row in _rows("why | means")] == list(get_args(Why))


def test_every_counter_is_in_the_table():
    made = [
        *counts_of(Event(kind="buffered", seconds=1)),
        *counts_of(Event(kind="reflected", seconds=1)),
        *counts_of(Event(kind="quarantined", messages=1)),
        *counts_of(Event(kind="failed", why="other")),
        *("micros|observer", "micros|reflector", "served|contexts", "refused", "marked"),
    ]
    told = [name.replace("\\|", "|") for row in _rows("field | counts") for name in re.findall(r"`([^`]+)`", row[0])]
    patterns = [
        re.compile(re.escape(name).replace("<why>", r"\w+").replace("<what>", r"\w+").replace("<bound>", ".+"))
        for name in told
    ]

    assert all(any(pattern.fullmatch(name) for pattern in patterns) for name in made)
    assert all(
        any(pattern.fullmatch(name) for name in made) for pattern in patterns if pattern.pattern[:9] != "reflector"
    )
    assert ", ".join(f"`{what}`" for what in context_usage.WHATS) in TEXT


def test_the_numbers_of_the_page_are_in_force():
    settings = MemorySettings()

    assert f"({settings.events.keep:,} unless you say otherwise)" in TEXT
    assert f"{', '.join(f'{bound:g}' for bound in BOUNDS)} s, and `inf`" in TEXT
    assert f"Every {limits.BEAT_S:g} s of silence" in TEXT
    assert f"keeps {settings.api.streams} of them open" in TEXT
    assert f"expire {event_stream.KEPT_S // 86_400} days after" in TEXT
