"""`om erase`: removes a fact wherever it stands."""

from collections.abc import Iterator, Sequence
from functools import partial

import click

from om_api.cli.checks import be_sure, check_known, yes_option
from om_api.cli.output import json_option, note, print_json, print_text
from om_api.cli.target import Target, command, resource_argument
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.language.words import amount
from om_api.store.erasing.erase import Erased, ErasedLines

_LISTED = 20  # of each kind; --json lists all


@command(
    'om erase harold --matching "hunter2" --dry-run',
    'om erase harold --matching "hunter2"',
    "om erase harold --message m-17 --thread thread-1",
    audited="erased",
)
@resource_argument
@click.option("--matching", metavar="TEXT", help="Whatever holds this text; case and blanks make no difference.")
@click.option("--message", metavar="ID", help="One message, and what was noted of it.")
@click.option("--thread", metavar="THREAD", help="Whose message it is, where several threads have one of its id.")
@click.option("--dry-run", is_flag=True, help="List what would be touched, and change nothing.")
@yes_option
@json_option
def erase(
    target: Target,
    resource: str,
    matching: str | None,
    message: str | None,
    thread: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> Outcome:
    """Remove a fact wherever it stands: in messages, observations, generations and the quarantine.

    It lists what it touches, and asks. What is left is observed again. Backups and exported files are not reached.
    """
    if (matching is None) == (message is None):
        raise InvalidInputError("name what is to be erased: either --matching TEXT or --message ID")
    target.attempt.add(**_told(message, dry_run=dry_run))
    with target.memory() as om:
        check_known(om, resource)
        ask = partial(om.erase, resource, matching=matching, message_id=message, thread_id=thread)
        would = ask(dry_run=True)
        if not as_json:
            print_text("\n".join(_listing(would)))
        told = dry_run or would.outcome is Outcome.REST
        if not told:
            be_sure(f"Remove this from the memory of {resource}?", yes)
        done = would if told else ask()
    _print_end(done, dry_run=dry_run, as_json=as_json)
    return done.outcome


def _told(message: str | None, *, dry_run: bool) -> dict[str, str]:
    """What is told of it: never the text."""
    return {"of": f"message {message}" if message else "a text"} | ({"did": ""} if dry_run else {})


def _listing(would: Erased) -> Iterator[str]:
    yield from _some("message", [f"{each.thread_id} {each.id}" for each in would.messages])
    yield from _noted("observation", would.observations)
    yield from _noted("generation", would.generations)
    yield from _noted("pinned line", would.pins)
    yield from _noted("field of threads", would.fields, "fields of threads")
    kept = [f"of {place or 'the resource'}" for place in would.working_memory]
    yield from _some("working memory", kept, "working memories")
    yield from _some("rejected entry", would.rejected, "rejected entries")
    yield from _some("observed again without it", would.observed_again, "observed again without it")


def _noted(one: str, found: Sequence[ErasedLines], more: str = "") -> Iterator[str]:
    lines = [f"{each.id}: {line.strip()}" for each in found for line in each.lines if line.strip()]
    yield from _some(one, lines, more, len(found))


def _some(one: str, found: Sequence[str], more: str = "", many: int = 0) -> Iterator[str]:
    if found:
        yield f"{amount(many or len(found), one, more)}:"
        yield from (f"  {each}" for each in found[:_LISTED])
        if len(found) > _LISTED:
            yield f"  and {len(found) - _LISTED:,} more, which --json lists"


def _print_end(done: Erased, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json(done)
    elif done.outcome is Outcome.REST:
        note("nothing of it is kept here; what a plain writer named to nobody is found by the next sweep")
    elif dry_run:
        note("nothing was changed: leave --dry-run out to remove it")
    else:
        click.echo(done.outcome)
        note("backups and exported files are not reached: remove or replace them too")
