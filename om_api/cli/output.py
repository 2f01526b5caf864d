"""What a command prints: tables for people, JSON for programs, and no control character of anyone's text."""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shutil import get_terminal_size, which
from typing import Any

import click
import msgspec
from rich.console import Console

from om_api.cli.tables import Rows, wrapped

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_WIDE = 10_000  # nothing is folded where nobody says how much room there is: a program or a file reads it


def visible(text: str) -> str:
    """A text whose control characters and unusual ends of lines are spelled out: no message can steer who shows it."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def cell(value: object) -> str:
    """A value as a table shows it: yes and no, thousands apart, `-` for nothing."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else visible(str(value))


def as_time(ms: int) -> str | None:
    """Unix ms as a date and a time of UTC; None for 0, and for what no calendar knows."""
    try:
        return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%SZ}" if ms else None
    except (ValueError, OverflowError, OSError):
        return None


def width() -> int:
    """How many columns there are: a terminal's, else what COLUMNS says, else more than anything needs."""
    if sys.stdout.isatty():
        return get_terminal_size().columns
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isdecimal() and 0 < int(said) < _WIDE else _WIDE


def table_of(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    title: str | None = None,
    **how: Sequence[str],
) -> Rows:
    """Rows under their columns, in whatever room there is; `how` says which go, and which break, where there is little."""
    said = {name: tuple(names) for name, names in how.items()}
    return Rows(tuple(columns), [tuple(map(cell, row)) for row in rows], title, **said)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    title: str | None = None,
    **how: Sequence[str],
) -> None:
    """Print rows under their columns, as table_of says; what had no room is named on stderr."""
    shown, left_out = table_of(columns, rows, title, **how).fitted(width())
    if isinstance(shown, str):
        click.echo(shown)
    else:
        Console(markup=False, highlight=False, emoji=False, width=width()).print(shown)
    if left_out:
        names = ", ".join(name for name in columns if name in left_out)
        note(f"no room for: {names}; a wider terminal shows them, and --json")


def print_fields(
    values: Iterable[object], names: Sequence[str], title: str | None = None, least: Sequence[str] = ()
) -> None:
    """Print some fields of values, a line each."""
    rows = [[getattr(value, name) for name in names] for value in values]
    print_table(list(map(words, names)), rows, title, least=list(map(words, least)))


def print_line(text: str, indent: int = 4) -> None:
    """Print one line; where there is little room in several, of which all but the first begin further right."""
    click.echo(wrapped(visible(text), width(), indent))


def words(name: str) -> str:
    """A field's name as the head of a column."""
    return name.replace("_", " ")


def print_json(value: Any) -> None:
    """Print a value as indented JSON; our own values are written as in the wire format."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def print_outcome(outcome: str, as_json: bool, **said: Any) -> None:
    """Print the word a command ended with; for a program with what else is to be `said` of it."""
    if as_json:
        print_json({"outcome": outcome, **said})
    else:
        click.echo(outcome)


def print_text(text: str) -> None:
    """Print a text: as it is for a program, made visible for a terminal."""
    click.echo(visible(text) if sys.stdout.isatty() else text)


def typed(line: str) -> str:
    """A command line that begins with `om`, as it can be typed here: with its path where the shell would not find it."""
    here = sys.argv[0]
    found = which("om")
    if Path(here).name != "om" or (found and Path(found).resolve() == Path(here).resolve()):
        return line
    return f"{here}{line.removeprefix('om')}"


def note(text: str) -> None:
    """Say something beside the result, on stderr."""
    click.echo(visible(text), err=True)


def note_partial(partial: str) -> None:
    """Say that what was archived is not among what is shown, and why; nothing where all of it is."""
    if partial:
        note(f"partial: what was archived is not shown, for the archive could not be looked through: {partial}")


def note_left_out(left_out: Mapping[str, str]) -> None:
    """Say which other memories are not among what is shown, and why."""
    for name, why in left_out.items():
        note(f"{name} is left out: {why}")


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a program.")
