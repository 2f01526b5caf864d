"""`om migrate-scope`: one memory for all threads, or one for each."""

from __future__ import annotations

import time

import click

from om_api.cli.existence import check_known
from om_api.cli.help import command
from om_api.cli.output import note
from om_api.cli.target import Target, resource_argument
from om_api.client.memory import ObservationalMemory
from om_api.domain.values import Outcome

_AGAIN = {Outcome.BUSY, Outcome.SUPERSEDED}
_PAUSE_S = 0.5


@command(
    "om migrate-scope harold --to thread", "om migrate-scope harold --to resource --wait 300", name="migrate-scope"
)
@resource_argument
@click.option("--to", required=True, type=click.Choice(["thread", "resource"]), help="What one memory is to cover.")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to try again while chunks are being observed or messages come in.",
)
def migrate_scope(target: Target, resource: str, to: str, wait: float) -> None:
    """Move a resource's memory to the other scope, and print the outcome.

    `activated`: moved. `rest`: there was nothing to move. `busy` or `superseded`: not moved in the time given, nothing
    has changed.
    """
    with target.memory() as om:
        check_known(om, resource)
        outcome = _until_moved(om, resource, to, wait)
        configured = om.settings.for_agent(resource).scope
    click.echo(outcome)
    if outcome in _AGAIN:
        note(f"not moved after {wait:g} s, nothing has changed: repeat when the workers have caught up")
    elif configured != to:
        note(f"the configuration of {resource} still says scope: {configured}")


def _until_moved(om: ObservationalMemory, resource: str, to: str, wait: float) -> Outcome:
    end = time.monotonic() + wait
    while (outcome := om.migrate_scope(resource, to)) in _AGAIN and (left := end - time.monotonic()) > 0:
        time.sleep(min(_PAUSE_S, left))
    return outcome
