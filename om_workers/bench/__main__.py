"""What `om bench` measures. The `om` command runs this as a process of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from om_api import tokens
from om_api.errors import InvalidInputError, OMError
from om_workers.bench.loading import load
from om_workers.bench.page import write_block
from om_workers.bench.quality import at_budget, calibrate, online
from om_workers.bench.recommended import RECOMMENDED
from om_workers.bench.report import Report, as_json, as_table
from om_workers.bench.speed import measure as faster
from om_workers.bench.speed.rooms import ROOMS

if TYPE_CHECKING:
    from om_workers.bench.talks import Talk

_BUDGETS = (0.05, 0.1, 0.25)
_THRESHOLD = ("message_threshold=3000",)


@click.group()
def bench() -> None:
    """Measure."""


@bench.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--budget", "budgets", multiple=True, type=click.FloatRange(0.001, 1), default=_BUDGETS)
@click.option("--set", "settings", multiple=True)
@click.option("--offline", is_flag=True)
@click.option("--json", "json_", is_flag=True)
@click.option("--write", type=click.Path(path_type=Path))
def memory(
    files: tuple[Path, ...],
    budgets: tuple[float, ...],
    settings: tuple[str, ...],
    *,
    offline: bool,
    json_: bool,
    write: Path | None,
) -> None:
    """Measure, and write what was found to standard output."""
    try:
        report = measure([talk for file in files for talk in load(file)], budgets, [] if offline else _runs(settings))
        sys.stdout.write((as_json(report) if json_ else as_table(report)) + "\n")
        if write:
            write_block(write, "memory", as_table(report))
    except OMError as error:
        raise click.ClickException(str(error)) from error


@bench.command()
@click.option("--only", "names", multiple=True, type=click.Choice(list(ROOMS)))
@click.option("--json", "json_", is_flag=True)
@click.option("--write", type=click.Path(path_type=Path))
def speed(names: tuple[str, ...], *, json_: bool, write: Path | None) -> None:
    """Measure, and write what was found to standard output."""
    try:
        measured = faster.measure(os.environ.get("OM_REDIS_URL"), names)
        shown = "\n".join(faster.as_table(measured))
        sys.stdout.write((msgspec.json.encode(measured).decode() if json_ else shown) + "\n")
        if write:
            write_block(write, "speed", shown)
    except OMError as error:
        raise click.ClickException(str(error)) from error


def _runs(settings: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What to go through the pipeline with: what is asked for, else the usual threshold as it is and as recommended."""
    return [settings] if settings else [_THRESHOLD, (*_THRESHOLD, *RECOMMENDED)]


def measure(talks: list[Talk], budgets: tuple[float, ...], runs: list[tuple[str, ...]]) -> Report:
    """All figures of some talks; through the pipeline once with each of `runs`, which are settings."""
    talks = [talk for talk in talks if talk.questions]
    if not talks:
        raise InvalidInputError("none of the questions has an answer and evidence: there is nothing to measure")
    count = tokens.counter()
    asked = sum(len(talk.questions) for talk in talks)
    at = [at_budget(talks, each, count) for each in budgets]
    url = os.environ.get("OM_REDIS_URL")
    return Report(len(talks), asked, calibrate(talks, count), at, [online(talks, count, run, url) for run in runs])


if __name__ == "__main__":
    bench(prog_name="om bench")
