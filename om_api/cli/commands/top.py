"""`om top`: the agents most worth a look, live."""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.live import Live

from om_api.cli.output import as_time, json_option, note, print_json, print_table, table_of
from om_api.cli.target import Target, command
from om_api.client.fleet.agent_rows import STATES, Agent
from om_api.client.fleet.agent_table import COLUMNS
from om_api.client.fleet.agents import Agents

_COLUMNS = (
    "resource",
    "state",
    "raw + chunks",
    "pressure",
    "observations",
    "full",
    "reflection",
    "generation",
    "ready",
    "lag",
    "compression",
    "cost today",
    "budget",
    "rejected",
    "last message",
)
_LEAST = (
    "reflection",
    "compression",
    "budget",
    "ready",
    "observations",
    "generation",
    "raw + chunks",
    "last message",
    "cost today",
)


@command(
    "om top",
    "om top --sort lag --limit 5 --once",
    "om top --state quarantine --search worker-",
    "om top --json | jq '.items[0].resource'",
)
@click.option("--sort", type=click.Choice(COLUMNS), default="pressure", show_default=True, help="Most of it first.")
@click.option("--ascending/--descending", default=False, help="Least of it first.")
@click.option("--state", type=click.Choice(STATES), help="Only agents in this state.")
@click.option("--search", default="", metavar="TEXT", help="Only agents with this in their names.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Agents shown.")
@click.option(
    "--interval", type=click.FloatRange(0.5, 3600), default=2.0, show_default=True, help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Look once; so does --json, and what is read by no terminal.")
@json_option
def top(target: Target, interval: float, once: bool, as_json: bool, ascending: bool, **asked: Any) -> None:
    """Show the agents with the highest pressure, lag, cost or latest activity, until Ctrl-C.

    Pressure is the raw window, chunks included, over its threshold; full is the same of observations; lag is for how long
    the oldest due scope has been waiting, or under way. A look reads some thousand agents at most, beginning with those that
    workers looked at last and those that wait for longest, so that it costs the same however many there are; where there are
    more, each further look reads on, and the title says how many were read.
    """
    with target.memory() as om:
        look = partial(om.agents, **asked, descending=not ascending)
        if as_json:
            print_json(look())
        elif once or not sys.stdout.isatty():
            _print(look())
        else:
            _show(look, interval)


def _print(found: Agents) -> None:
    if found.known:
        print_table(_COLUMNS, map(_row, found.items), _title(found), least=_LEAST)
    else:
        note("no worker has met a resource yet")


def _show(look: Callable[[], Agents], interval: float) -> None:
    with Live(console=Console(highlight=False), screen=True, auto_refresh=False) as live:
        while True:
            found = look()
            live.update(table_of(_COLUMNS, map(_row, found.items), _title(found), least=_LEAST), refresh=True)
            time.sleep(interval)


def _title(found: Agents) -> str:
    read = "" if found.complete else f", {found.read:,} read so far"
    wanted = "" if found.matching == found.read else f" of {found.matching:,} that fit,"
    return f"{len(found.items):,}{wanted} of {found.known:,} agents{read}"


def _row(agent: Agent) -> tuple[object, ...]:
    return (
        agent.resource,
        agent.state,
        f"{agent.message_tokens + agent.chunk_tokens:,} / {agent.message_threshold:,}",
        f"{agent.pressure:.0%}",
        f"{agent.observation_tokens:,} / {agent.observation_threshold:,}",
        f"{agent.fill:.0%}",
        agent.reflection_tokens,
        agent.generation,
        f"{agent.ready_chunks:,} of {agent.chunks:,}",
        f"{agent.lag:,.1f} s",
        agent.compression,
        f"{agent.cost_today:,.4f}",
        None if agent.budget_used is None else f"{agent.budget_used:.0%}",
        agent.rejected,
        as_time(agent.at),
    )
