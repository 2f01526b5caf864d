"""`om export` and `om import`: a memory in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from om_api.cli.existence import check_known
from om_api.cli.help import command
from om_api.cli.output import json_option, print_json
from om_api.cli.target import Target, checked, resource_argument

_PIECE = 256 * 1024


@command("om export harold > harold.jsonl", "om export harold | gzip > harold.jsonl.gz")
@resource_argument
def export(target: Target, resource: str) -> None:
    """Write a resource's whole memory to stdout, as JSON lines.

    Everything is of one instant, whatever agents and workers do meanwhile. The last line proves that the file is whole.
    """
    with target.memory() as om:
        check_known(om, resource)
        for piece in om.export_memory(resource):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


@command("om import < harold.jsonl", "gunzip -c harold.jsonl.gz | om import --as harold-2", name="import")
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
