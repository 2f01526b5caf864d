"""What `om demo` shows of the archive: the past leaves Redis for a file of SQLite's, and is recalled from there."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import click

from om_api.archive.opening import open_archive
from om_api.cli.demo_recall import FACTS, AskedFact
from om_api.cli.output import print_line
from om_api.cli.passages import Passages
from om_api.cli.up import ARCHIVE_FILE
from om_api.client.memory import ObservationalMemory
from om_api.domain.extras import MissingExtraError, require
from om_api.domain.values import Scope
from om_api.recall.query import parse_query
from om_api.settings import Settings
from om_api.store.archiving.candidates import past
from om_api.store.archiving.moving import Planned, move
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.replies import server_ms
from om_api.store.driver.steps import Steps
from om_api.store.memory import clear
from om_api.store.memory.keys import Keys, keys_of

_INDENT = 4


def archive_environ(folder: str) -> dict[str, str]:
    """What switches an archive on in a folder; nothing where its packages are not installed."""
    try:
        require("archive", "alembic", "sqlalchemy")
    except MissingExtraError:
        return {}
    return {"OM_ARCHIVE__URL": f"sqlite:///{Path(folder).resolve() / ARCHIVE_FILE}"}


def show_archive(om: ObservationalMemory, agents: Iterable[str], facts: Iterable[AskedFact] = FACTS) -> bool:
    """Archive all that may be, say how many messages left Redis, and recall a fact; whether one came from the archive."""
    settings = om.settings
    if (url := settings.archive_url) is None:
        click.echo("\nNo archive is shown: pip install 'cortex-om[archive]' has one.")
        return True
    client = open_client(settings.redis_url, 5.0)
    with closing(open_archive(url)) as archive, closing(Connection(client, archive)) as connection:
        archive.prepare()
        for name in agents:
            connection.run(_archived(keys_of(settings), settings, name))
        click.echo("\nThe past moves to the archive, a file of SQLite's beside Redis (archive.after: here 0s)")
        print_line(
            f"{archive.figures().messages:,} messages behind notes left Redis, and what reflections replaced", _INDENT
        )
        hits = ((fact, hit) for fact in facts for hit in om.recall(fact.query, fact.agent, around=0).hits)
        far = ((fact, hit) for fact, hit in hits if fact.is_in(hit.text) and archive.holding(fact.agent, hit.id, None))
        fact, found = next(far, (None, None))
    if fact is None or found is None:
        click.echo("BROKEN: no answer comes from the archive")
        return False
    click.echo(f'recall(query="{fact.query}") answers from there:')
    Passages(parse_query(fact.query, found.at, "UTC")).hit(found)
    return True


def _archived(keys: Keys, settings: Settings, agent: str) -> Steps[int]:
    """Move all of an agent that may be moved, however young: a worker does it by itself, after archive.after."""
    own, now = settings.for_agent(agent), (yield from server_ms())
    threads = yield from clear.threads_met(keys, agent)
    scopes = [Scope(agent)] if own.scope == "resource" else [Scope(agent, name) for name in threads]
    found = yield from past(keys, agent, scopes, threads, now, own.retention_s)
    return (yield from move(keys, [Planned(agent, found.ready, own.recall.language, own.retention_s)]))
