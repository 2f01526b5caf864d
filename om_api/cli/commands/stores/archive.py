"""`om archive`: the database that the past moves to: how it is, its tables, moving it, and what nobody else knows of."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final, NamedTuple

import click

from om_api.archive.copying import copy as copy_archive
from om_api.archive.opening import open_archive
from om_api.cli.checks import be_sure, yes_option
from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table
from om_api.cli.target import Target, command, examples, resource_argument
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import Outcome
from om_api.language.words import amount
from om_api.ops import archive_state
from om_api.ops.archive_state import ArchiveState
from om_api.settings import Settings
from om_api.settings.sections.urls import has_password
from om_api.store.archiving import archivable
from om_api.store.archiving.comparing import compare, give_up
from om_api.store.driver.connection import Connection, open_client

_SQLITE, _POSTGRES = "sqlite:///om-archive.db", "postgresql://om@db/archive"
_PATIENCE_S: Final = 60.0  # for one statement of a copy, beside workers that write
_TOLD_S: Final = 1.0
_BOTH: Final = 2
_FAILING: Final = 3  # as of any command that the store or the archive does not answer
_NONE = "no archive is configured: set archive.url (OM_ARCHIVE__URL) to sqlite:///file.db or postgresql://user@host/database"
_SEEN = (
    "whoever is on this machine can see a password that stands on the command line: better leave FROM out and put its address "
    "into OM_ARCHIVE__URL, and the password of TO into PGPASSWORD"
)


@click.group(epilog=examples("om archive status", f"om archive copy {_POSTGRES}"))
def archive() -> None:
    """Look after the SQL database that the past of memories moves to, where archive.url names one.

    Redis stays the hot store: what is not archived yet stands there, and nothing leaves it that the archive does not give back.
    """


@command("om archive status", "om archive status --json | jq .behind_ms", of=archive)
@json_option
def status(target: Target, as_json: bool) -> None:
    """Say where the archive is, what it holds, and how far archiving is behind; and since when and why, where it fails."""
    keys = target.keys()
    state = archive_state.look(target.settings(), lambda: target.run(archivable.backlog(keys)), _PATIENCE_S)
    if state is None:
        raise NotFoundError(_NONE)
    if as_json:
        print_json(_plain(state))
    else:
        print_table(("what", "is"), _rows(state))
    if state.refusal or state.backlog.fault:
        note("Redis keeps what is not archived; om doctor says what to do")
        raise SystemExit(_FAILING)


def _plain(state: ArchiveState) -> dict[str, Any]:
    """The state for a program; figures are null where the archive does not answer."""
    figures, fault = state.figures, state.backlog.fault
    return {
        "url": state.where,
        "answers": figures is not None,
        "refusal": state.refusal,
        **(figures._asdict() if figures else dict.fromkeys(("entries", "messages", "resources", "bytes"))),
        "due": state.backlog.due,
        "behind_ms": state.backlog.behind_ms,
        "failing_since": fault.since if fault else None,
        "why": fault.why if fault else "",
    }


def _rows(state: ArchiveState) -> Iterator[tuple[str, object]]:
    yield "archive", state.where
    yield "schema", state.refusal or "of this version"
    yield from (state.figures._asdict() if state.figures else {}).items()
    yield "resources due", state.backlog.due
    yield "behind", f"{state.backlog.behind_ms / 1000:,.0f} s"
    if fault := state.backlog.fault:
        yield "failing since", as_time(fault.since)
        yield "because", fault.why


@command("om archive upgrade", of=archive, audited="archive_upgraded")
@json_option
def upgrade(target: Target, as_json: bool) -> None:
    """Bring the archive's tables to this version. Safe to repeat, and while others use it; make a backup before."""
    url = _configured(target)
    target.attempt.add(of=Settings.safe_url(url))
    with closing(open_archive(url, _PATIENCE_S)) as own:
        own.upgrade()
        own.check()
    print_outcome(Outcome.REST, as_json, url=Settings.safe_url(url))


class _Route(NamedTuple):
    """From where to where an archive is copied."""

    source: str
    to: str

    @classmethod
    def of(cls, addresses: tuple[str, ...], configured: Callable[[], str]) -> "_Route":
        """What the command line says; raises InvalidInputError."""
        if len(addresses) > _BOTH:
            raise InvalidInputError("name FROM and TO, or TO alone")
        route = cls(addresses[0] if len(addresses) == _BOTH else configured(), addresses[-1])
        if route.source == route.to:
            raise InvalidInputError("FROM and TO are the same archive: name another TO")
        if any(map(has_password, addresses)):
            note(_SEEN)
        return route


@command(
    f"om archive copy {_POSTGRES}",
    f"om archive copy {_SQLITE} {_POSTGRES}",
    of=archive,
    audited="archive_copied",
)
@click.argument("addresses", nargs=-1, required=True, metavar="[FROM] TO")
@json_option
def copy(target: Target, addresses: tuple[str, ...], as_json: bool) -> None:
    """Copy the archive into another database, while it is in use: FROM is the configured one unless it is named.

    It may be interrupted and repeated: only what TO has not is copied, and nothing of FROM changes.
    """
    route = _Route.of(addresses, lambda: _configured(target))
    shown = Settings.safe_url(route.to)
    target.attempt.add(of=shown)
    with closing(open_archive(route.source, _PATIENCE_S)) as source, closing(open_archive(route.to, _PATIENCE_S)) as to:
        source.check()
        to.prepare()
        copied = copy_archive(source, to, _progress())
        held = to.figures()
    if as_json:
        print_json({"copied": copied, "to": shown, **held._asdict()})
    else:
        click.echo(f"{amount(copied, 'entry', 'entries')} copied; {shown} holds {held.entries:,} now")
    note(
        "to switch: 1. stop archiving (the workers that serve the queue maintenance). 2. Set archive.url (OM_ARCHIVE__URL) to "
        "the new one for workers, clients and the API. 3. Copy once more, and start the workers again"
    )


def _progress() -> Callable[[int, int], None]:
    """Say on stderr how far a copy is, once a second."""
    told = time.monotonic()

    def tell(done: int, of: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _TOLD_S:
            told = time.monotonic()
            note(f"{done:,} of {of:,} entries")

    return tell


@command("om archive discard harold", of=archive, audited="archive_discarded")
@resource_argument
@yes_option
@json_option
def discard(target: Target, resource: str, yes: bool, as_json: bool) -> None:
    """Give up what only one of Redis and the archive has of a resource: where one of them was lost, or is older than the other.

    Entries that Redis does not name are removed: a clear that was killed between its two halves leaves such, but they may also
    be all that is left after Redis was lost; then restore that instead (docs/backup.md). And what Redis names and the archive
    lacks is named no longer, so that the rest can be changed and cleared again. What is whole stays.
    """
    settings, keys = target.settings(), target.keys()
    client, own = open_client(settings.redis_url, 5.0), open_archive(_configured(target))
    with closing(Connection(client, own)) as connection:
        run = connection.run
        found = run(compare(keys, resource))
        if not (found.unnamed or found.neither):
            raise NotFoundError(f"Redis and the archive agree on {resource}: there is nothing to give up (om verify)")
        rows, lacks = amount(len(found.unnamed), "entry", "entries"), amount(len(found.neither), "thing", "things")
        be_sure(f"Remove {rows} of {resource} from the archive, and give up {lacks} that it lacks?", yes)
        done = run(give_up(keys, resource))
    print_outcome(Outcome.CLEARED, as_json, **done._asdict())


def _configured(target: Target) -> str:
    if (url := target.settings().archive_url) is None:
        raise NotFoundError(_NONE)
    return url
