"""`om events`: what happened to memories, and what happens."""

from collections.abc import Iterable

import click
import msgspec

from om_api.cli.checks import check_known
from om_api.cli.output import as_time, cell, json_option, note, print_line
from om_api.cli.target import Target, command, optional_resource
from om_api.domain.events import GAP, KINDS, MOST, Event

_FIRST = ("kind", "id", "at", "resource")
_NEWEST = 20


@command(
    "om events",
    "om events harold --kind failed --kind quarantined",
    "om events --follow --json | jq -c 'select(.cost > 0.01)'",
    "om events --after 0 --count 1000 --json",
)
@optional_resource
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only this kind; repeatable.")
@click.option("--follow", is_flag=True, help="Go on with what happens, until interrupted.")
@click.option(
    "--after", default="", metavar="ID", help="Begin behind this event, or these Unix ms; 0: the oldest kept."
)
@click.option(
    "--count", type=click.IntRange(1, MOST), default=_NEWEST, show_default=True, help="At most so many at first."
)
@json_option
def events(
    target: Target, resource: str | None, kinds: tuple[str, ...], follow: bool, after: str, count: int, as_json: bool
) -> None:
    """Show what happened last, of a resource or of all: what was sealed, observed, activated, reflected, and what failed.

    With --json each event is a line of its own. No event holds a word of a message: see docs/events.md.
    """
    whose = (resource,) if resource else ()
    with target.memory() as om:
        told = om.events(after, kinds=kinds, resource_id=whose, count=count)
        _print(told.events, as_json)
        if follow:
            _print(om.follow(told.after, kinds=kinds, resource_id=whose), as_json)
        elif not told.events:
            note("no such event is kept")
            if resource:
                check_known(om, resource)


def _print(told: Iterable[Event], as_json: bool) -> None:
    for event in told:
        if as_json:
            click.echo(msgspec.json.encode(event))
        else:
            print_line(_line(event))


def _line(event: Event) -> str:
    """An event on one line: when, whose, what, and whatever it carries."""
    if event.kind == GAP:
        return f"{as_time(event.at) or '-'}  (events before this one are no longer kept, and were not shown)"
    said = {name: value for name, value in msgspec.structs.asdict(event).items() if value is not None}
    rest = "  ".join(f"{name}={cell(value)}" for name, value in said.items() if name not in _FIRST)
    return f"{as_time(event.at)}  {event.resource or '(all)'}  {event.kind}  {rest}".rstrip()
