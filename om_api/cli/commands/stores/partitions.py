"""`om partitions`: into how many keys each index of the store is parted, and moving it into another number."""

import click

from om_api.cli.output import json_option, note, print_json
from om_api.cli.target import Target, command
from om_api.language.words import amount
from om_api.store.driver.partitions import MOST, learn
from om_api.store.fleet.repartition import repartition
from om_api.store.memory.keys import Keys


@command("om partitions", "om partitions 64", audited="repartitioned")
@json_option
@click.argument("count", type=click.IntRange(1, MOST), required=False)
def partitions(target: Target, count: int | None, as_json: bool) -> None:
    """Show into how many parts the indexes of the store are parted, or move them into COUNT while everything runs.

    One is right for one server; 64 for a Cluster. Safe to repeat: what was interrupted goes on where it stopped.
    """
    keys = Keys(target.settings().prefix)  # whatever the settings ask for
    if count is None:
        target.attempt.add(did="")
    if count is not None:
        note(f"{amount(target.run(repartition(keys, count)), 'entry was', 'entries were')} moved")
    now = target.run(learn(keys.layout))
    if as_json:
        print_json(now)
    else:
        click.echo(amount(now.count, "partition"))
    if now.moving:
        note(f"not all entries were moved yet: the workers go on, and so does om partitions {now.count}")
