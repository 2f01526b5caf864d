"""`om recall` and `om browse`: what was said before, found by its words, and what stands around it."""

import time
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from om_api.cli.checks import check_known
from om_api.cli.output import json_option, note, note_left_out, note_partial, print_json, typed
from om_api.cli.passages import Passages, print_hits
from om_api.cli.target import Target, also_option, checked, command, resource_argument
from om_api.client.memory import ObservationalMemory
from om_api.client.recall.recall_query import MOST_AROUND, MOST_BESIDE, MOST_HITS, MOST_OFFSET
from om_api.domain.errors import NotFoundError
from om_api.domain.messages import ROLES
from om_api.recall.query import parse_query
from om_api.recall.recalled import KINDS, Browsed, Recalled


@command(
    'om recall harold "passport number"',
    "om recall harold '\"blue drawer\" -car in May' --role user",
    "om recall harold flight --after 2026-05-01 --kind message --kind observation",
    "om recall harold brass --also team-blue",
    "om recall harold invoice --around 0 --json | jq -r '.hits[].text'",
)
@resource_argument
@click.argument("query", nargs=-1, required=True)
@click.option("--thread", "thread_id", metavar="THREAD", callback=checked, help="Only in this thread.")
@click.option("--role", "roles", multiple=True, type=click.Choice(ROLES), help="Only what it said; repeatable.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    default=KINDS[:1],
    show_default=True,
    type=click.Choice(KINDS),
    help="What is searched; repeatable.",
)
@click.option("--after", metavar="TIME", help="Only what was said then or later: a date, ISO 8601 or Unix.")
@click.option("--before", metavar="TIME", help="Only what was said before.")
@click.option("--limit", type=click.IntRange(1, MOST_HITS), default=10, show_default=True, help="Hits at most.")
@click.option(
    "--around", type=click.IntRange(0, MOST_AROUND), default=1, show_default=True, help="Turns shown on either side."
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Bound all that is shown; the first hit always is.")
@click.option("--offset", type=click.IntRange(0, MOST_OFFSET), default=0, help="Go on behind so many hits.")
@also_option
@json_option
def recall(target: Target, resource: str, query: tuple[str, ...], as_json: bool, **how: Any) -> None:
    """Look up what was said before by its words, whatever tier it is in, the best hit first.

    In QUERY "an exact phrase" stands in quotes, -word leaves out, thread:t-1, role:user, after:2026-05 and before:2026 limit,
    and dates in words such as "last week" count from today. A QUERY that begins with a minus stands behind `--`.
    """
    asked = " ".join(query)
    with target.memory() as om:
        found = om.recall(asked, resource, **how)
        read = parse_query(asked, int(time.time() * 1000), om.settings.for_agent(resource).timezone)
        if not found.hits:
            check_known(om, resource, how["thread_id"])
            _check_threads(om, resource, list(filter(None, [how["thread_id"]])) or read.threads)
    if as_json:
        print_json(found)
    else:
        print_hits(found.hits, read, resource)
    _tell(found)


def _tell(found: Recalled) -> None:
    """Say what of the query was not taken, why nothing was found, how to see more."""
    for text in filter(None, (*found.notes, found.reason)):
        note(text)
    note_partial(found.partial)
    note_left_out(found.left_out)
    if found.next is not None:
        note(f"there is more: go on with --offset {found.next}")
    if hit := next((hit for hit in found.hits if hit.message), None):
        note(f"what else was said there: {typed(f'om browse {hit.resource_id} {hit.id}')}")


def _check_threads(om: ObservationalMemory, resource: str, asked: Sequence[str]) -> None:
    """Say which threads that were named are not known, where there are any: a name may be mistyped."""
    known = [each.id for each in om.threads(resource, archived=None)] if asked else []
    for thread in asked if known else ():
        if thread not in known:
            close = get_close_matches(thread, known, 1)
            note(
                f"no thread {thread} of {resource} is known: {f'did you mean {close[0]}?' if close else 'om threads lists them'}"
            )


@command(
    "om browse harold m-17",
    "om browse harold m-17 --before 20 --after 0",
    "om browse harold m-17 --thread thread-1 --json | jq -r '.after[].content'",
)
@resource_argument
@click.argument("message", callback=checked)
@click.option("--before", type=click.IntRange(0, MOST_BESIDE), default=5, show_default=True, help="Turns before it.")
@click.option("--after", type=click.IntRange(0, MOST_BESIDE), default=5, show_default=True, help="Turns behind it.")
@click.option("--thread", metavar="THREAD", callback=checked, help="Where several threads have a message of its id.")
@json_option
def browse(
    target: Target, resource: str, message: str, before: int, after: int, thread: str | None, as_json: bool
) -> None:
    """Print a message of the past with the turns around it, as they were said, whatever tier it is in."""
    with target.memory() as om:
        found = om.browse(message, resource, before=before, after=after, thread_id=thread)
        note_partial(found.partial)
        if found.message is None:
            check_known(om, resource, thread)
            raise NotFoundError(
                f"{resource} keeps no message {message}{f' in {thread}' if thread else ''}: it was removed, has expired, or was "
                "never there; om recall finds messages by their words"
            )
    if as_json:
        print_json(found)
    else:
        Passages().turns(found)
    _tell_on(found, resource, thread)


def _tell_on(found: Browsed, resource: str, thread: str | None) -> None:
    """Say how to page on from either end."""
    turns = (*found.before, *filter(None, [found.message]), *found.after)
    where = f" --thread {thread}" if thread else ""
    if found.earlier:
        note(f"earlier: {typed(f'om browse {resource} {turns[0].id}{where}')} --after 0")
    if found.later:
        note(f"later: {typed(f'om browse {resource} {turns[-1].id}{where}')} --before 0")
