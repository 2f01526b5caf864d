"""`om clear`, `forget`, `restore`, `migrate-scope`, `export` and `import`: what a memory's owner may do to it."""

import sys
import time
from collections.abc import Iterator

import click

from om_api.cli.checks import be_sure, check_known, yes_option
from om_api.cli.output import json_option, note, print_json, print_outcome
from om_api.cli.target import (
    Target,
    checked,
    command,
    observation_argument,
    optional_thread,
    resource_argument,
    wait_option,
)
from om_api.client.memory import ObservationalMemory
from om_api.domain.values import Outcome

_AGAIN = {Outcome.BUSY, Outcome.SUPERSEDED}
_PAUSE_S = 0.5
_PIECE = 256 * 1024


@command("om clear harold thread-1", "om clear harold --yes", audited="cleared")
@resource_argument
@optional_thread
@yes_option
@json_option
def clear(target: Target, resource: str, thread: str | None, yes: bool, as_json: bool) -> Outcome:
    """Remove a resource's whole memory, or one thread of it.

    What a reflection has merged beyond recognition stays in it and is named.
    """
    with target.memory() as om:
        check_known(om, resource)
        be_sure(f"Remove {f'thread {thread}' if thread else 'the whole memory'} of {resource}?", yes)
        done = om.clear(resource, thread)
    if as_json:
        print_json(done._asdict())
    else:
        click.echo(
            f"{done.outcome}: {done.observations:,} observations, and {done.messages:,} messages that were in none"
        )
    if done.merged:
        note(f"a reflection still holds what it made of: {', '.join(done.merged)}")
    return done.outcome


@command(
    "om forget harold 019a9c6f0a6b5f0c2d1e3a4b5c6d",
    "om forget harold 019a9c6f0a6b5f0c2d1e3a4b5c6d --yes",
    audited="forgot",
)
@resource_argument
@observation_argument
@yes_option
@json_option
def forget(target: Target, resource: str, observation: str, yes: bool, as_json: bool) -> Outcome:
    """Remove one observation and the messages behind it, and print the outcome.

    `om observations` lists them with their ids.
    """
    with target.memory() as om:
        check_known(om, resource)
        be_sure(f"Remove observation {observation} of {resource} and its messages?", yes)
        done = om.forget(observation, resource)
    print_outcome(done, as_json)
    return done


@command("om restore harold 3", "om restore harold 0", "om restore harold 3 thread-1", audited="restored")
@resource_argument
@click.argument("generation", type=click.IntRange(min=0))
@optional_thread
@json_option
def restore(target: Target, resource: str, generation: int, thread: str | None, as_json: bool) -> Outcome:
    """Make the text of an earlier GENERATION the next one, and print the outcome; 0 is the time before the first.

    What was condensed since comes back as observations, what was observed since stays. Name the THREAD where each thread
    keeps a memory of its own. `om history` lists the generations; this can be undone in the same way.
    """
    with target.memory() as om:
        check_known(om, resource)
        done = om.restore(resource, generation, thread)
        tokens = om.record(resource, thread).observation_tokens
        most = om.settings.for_agent(resource).observation_threshold
    print_outcome(done, as_json)
    if done is Outcome.SUPERSEDED:
        note("the memory changed meanwhile, nothing was restored: repeat the command")
    elif tokens >= most:
        note(
            f"the observations are above the threshold, and will be condensed again: run om pause {resource} if they must not"
        )
    return done


@command(
    "om migrate-scope harold --to thread",
    "om migrate-scope harold --to resource --wait 300",
    name="migrate-scope",
    audited="migrated",
)
@resource_argument
@click.option("--to", required=True, type=click.Choice(["thread", "resource"]), help="What one memory is to cover.")
@wait_option("How long to try again while chunks are being observed or messages come in.")
@json_option
def migrate_scope(target: Target, resource: str, to: str, wait: float, as_json: bool) -> Outcome:
    """Move a resource's memory to the other scope, and print the outcome.

    `activated`: moved. `rest`: there was nothing to move. `busy` or `superseded`: not moved in the time given, nothing
    has changed.
    """
    with target.memory() as om:
        check_known(om, resource)
        outcome = _until_moved(om, resource, to, wait)
        configured = om.settings.for_agent(resource).scope
    print_outcome(outcome, as_json)
    if outcome in _AGAIN:
        note(f"not moved after {wait:g} s, nothing has changed: repeat when the workers have caught up")
    elif configured != to:
        note(f"the configuration of {resource} still says scope: {configured}")
    return outcome


def _until_moved(om: ObservationalMemory, resource: str, to: str, wait: float) -> Outcome:
    end = time.monotonic() + wait
    while (outcome := om.migrate_scope(resource, to)) in _AGAIN and (left := end - time.monotonic()) > 0:
        time.sleep(min(_PAUSE_S, left))
    return outcome


@command("om export harold > harold.jsonl", "om export harold | gzip > harold.jsonl.gz", audited="exported")
@resource_argument
@click.option("--json", is_flag=True, expose_value=False, help="JSON lines are what it always writes.")
def export(target: Target, resource: str) -> None:
    """Write a resource's whole memory to stdout, as JSON lines.

    Everything is of one instant, whatever agents and workers do meanwhile. The last line proves that the file is whole.
    """
    with target.memory() as om:
        check_known(om, resource)
        target.tell()  # before the first byte: whoever reads them may end this process
        for piece in om.export_memory(resource):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


@command(
    "om import < harold.jsonl",
    "gunzip -c harold.jsonl.gz | om import --as harold-2",
    name="import",
    audited="imported",
)
@click.option(
    "--as", "resource", metavar="RESOURCE", callback=checked, help="Whose memory it is to be; else whose it was."
)
@json_option
def import_(target: Target, resource: str | None, as_json: bool) -> None:
    """Make the memory that stdin holds that of a resource which holds nothing, and print what it has.

    It is there at once and whole, or not at all. Messages keep every byte, a resource that they name included.
    """
    with target.memory() as om:
        done = om.import_memory(_pieces(), resource)
    target.attempt.add(resource=done.resource)
    if as_json:
        print_json(done)
    else:
        click.echo(
            f"{done.resource}: {done.threads:,} threads, {done.messages:,} messages, {done.observations:,} observations, "
            f"{done.generations:,} generations"
        )


def _pieces() -> Iterator[bytes]:
    while piece := sys.stdin.buffer.read(_PIECE):
        yield piece
