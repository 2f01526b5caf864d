"""`om audit`: who operated what, and who was refused."""

from collections.abc import Iterable
from datetime import UTC, datetime

import click
import msgspec

from om_api.cli.output import as_time, json_option, note, print_line
from om_api.cli.target import Target, command, optional_resource
from om_api.client.memory import ObservationalMemory
from om_api.domain.audit.audit_entry import DID, AuditEntry, plain
from om_api.domain.events import MOST
from om_api.settings.sections.fields import parse_duration

_NEWEST = 20
_ON_ONE_LINE = ("thread", "of", "ended", "status")


def _since(_: click.Context, __: click.Parameter, value: str | None) -> int | float:
    """Unix ms; of a duration, which is reckoned from the store's time, its seconds, below 0."""
    if not value:
        return 0
    try:
        return -parse_duration(value)
    except ValueError:
        pass
    try:
        day = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is neither a duration such as 2h or 7d nor a time such as 2026-11-20T09:30"
        ) from None
    return round((day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp() * 1_000)


@command(
    "om audit",
    "om audit harold --did restored --did erased --since 7d",
    "om audit --who 'shop assistant' --count 100",
    "om audit --follow --json >> audit.jsonl",
)
@optional_resource
@click.option("--who", default="", help="Only this key, by its id or its label, or this user@host.")
@click.option("--did", multiple=True, type=click.Choice([*DID]), metavar="VERB", help="Only this verb; repeatable.")
@click.option("--since", callback=_since, metavar="TIME", help="Not before: 2h, 7d, or 2026-11-20T09:30 (UTC).")
@click.option("--follow", is_flag=True, help="Go on with what happens, until interrupted.")
@click.option(
    "--count", type=click.IntRange(1, MOST), default=_NEWEST, show_default=True, help="At most so many at first."
)
@json_option
def audit(
    target: Target,
    resource: str | None,
    who: str,
    did: tuple[str, ...],
    since: float,
    follow: bool,
    count: int,
    as_json: bool,
) -> None:
    """Show who operated memories, over HTTP, by MCP, on pages and by om, and who was refused: the newest, oldest first.

    With --json each entry is a line of its own. An agent's own traffic is not in it: see docs/security.md.
    """
    whose = (resource,) if resource else ()
    with target.memory() as om:
        begin = round(since if since >= 0 else max(0, om.ping() + since * 1_000))
        found, after = _newest(om, who, whose, did, begin, count)
        _print(found, as_json)
        if follow:
            _print(om.follow_audit(after, who=who, resource_id=whose, did=did), as_json)
        elif not found:
            note("no such entry is kept")


def _newest(
    om: ObservationalMemory, who: str, whose: tuple[str, ...], did: tuple[str, ...], since: int, count: int
) -> tuple[list[AuditEntry], str]:
    """The newest wanted entries, oldest first, however many others there are; and what is behind all of them."""
    page = om.audit(who=who, resource_id=whose, did=did, since=since, count=count)
    found, after = page.entries, page.after
    while page.before and len(found) < count:
        page = om.audit(page.before, who=who, resource_id=whose, did=did, since=since, count=count - len(found))
        found = [*found, *page.entries]
    return found[::-1], after


def _print(entries: Iterable[AuditEntry], as_json: bool) -> None:
    for entry in entries:
        if as_json:
            click.echo(msgspec.json.encode(entry))
        else:
            print_line(plain(_line(entry)))


def _line(entry: AuditEntry) -> str:
    """An entry on one line: when, who, how, what, of whom, and how it ended."""
    who = f"{entry.who} ({entry.label})" if entry.label else entry.who
    said = {name: getattr(entry, name) for name in _ON_ONE_LINE}
    rest = "  ".join(f"{name}={value}" for name, value in said.items() if value)
    words = (as_time(entry.at) or "-", who, entry.via, entry.did, entry.resource or "(all)", entry.outcome, rest)
    return "  ".join(filter(None, words))
