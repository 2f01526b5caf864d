"""`om top`: the agents most worth a look, live."""

import sys
import time

import click
from rich.console import Console
from rich.live import Live

from om_api.cli.output import as_time, json_option, note, print_json, print_table, table_of
from om_api.cli.target import Target, command
from om_api.ops.top import ORDERS, Agent, Order, Top, watching

_COLUMNS = (
    "resource",
    "raw + chunks",
    "pressure",
    "observations",
    "full",
    "reflection",
    "generation",
    "ready",
    "lag",
    "cost today",
    "rejected",
    "last message",
)
_LEAST = (
    "reflection",
    "ready",
    "observations",
    "generation",
    "raw + chunks",
    "last message",
    "cost today",
)


@command("om top", "om top --sort lag --limit 5 --once", "om top --json | jq '.agents[0].resource'")
@click.option(
    "--sort", "order", type=click.Choice(ORDERS), default="pressure", show_default=True, help="Most of it first."
)
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Agents shown.")
@click.option(
    "--interval", type=click.FloatRange(0.5, 3600), default=2.0, show_default=True, help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Look once; so does --json, and what is read by no terminal.")
@json_option
def top(target: Target, order: Order, limit: int, interval: float, once: bool, as_json: bool) -> None:
    """Show the agents with the highest pressure, lag, cost or latest activity, until Ctrl-C.

    Pressure is the raw window, chunks included, over its threshold; full is the same of observations; lag is for how long
    the oldest work has been waiting, or under way. They are chosen among the 1,000 agents that workers looked at last and
    those of the 1,000 longest due scopes, so that a look costs the same however many there are; om stats shows all.
    """
    with watching(target.refreshed()) as look:
        if as_json:
            print_json(look(order, limit)._asdict())
        elif once or not sys.stdout.isatty():
            found = look(order, limit)
            if found.agents:
                print_table(_COLUMNS, map(_row, found.agents), _title(found), least=_LEAST)
            else:
                note("no worker has met a resource yet")
        else:
            with Live(console=Console(highlight=False), screen=True, auto_refresh=False) as live:
                while True:
                    found = look(order, limit)
                    live.update(table_of(_COLUMNS, map(_row, found.agents), _title(found), least=_LEAST), refresh=True)
                    time.sleep(interval)


def _title(found: Top) -> str:
    return f"{len(found.agents):,} of {found.known:,} agents, chosen among {found.among:,}"


def _row(agent: Agent) -> tuple[object, ...]:
    return (
        f"{agent.resource}{' (paused)' if agent.paused else ''}",
        f"{agent.message_tokens + agent.chunk_tokens:,} / {agent.message_threshold:,}",
        f"{agent.pressure:.0%}",
        f"{agent.observation_tokens:,} / {agent.observation_threshold:,}",
        f"{agent.fill:.0%}",
        agent.reflection_tokens,
        agent.generation,
        f"{agent.ready_chunks:,} of {agent.chunks:,}",
        f"{agent.lag:,.1f} s",
        f"{agent.cost_today:,.4f}",
        agent.rejected,
        as_time(agent.at),
    )
