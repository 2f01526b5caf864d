"""`om redact`: redacts what was stored before redaction was switched on."""

import click

from om_api.cli.checks import be_sure, check_known, yes_option
from om_api.cli.output import json_option, note, print_json
from om_api.cli.target import Target, command, resource_argument
from om_api.domain.values import Outcome
from om_api.language.words import amount
from om_api.store.backup.old_text import OldText


@command("om redact harold --dry-run", "om redact harold", audited="redacted")
@resource_argument
@click.option("--dry-run", is_flag=True, help="Tell how much would be replaced, and change nothing.")
@yes_option
@json_option
def redact(target: Target, resource: str, dry_run: bool, yes: bool, as_json: bool) -> Outcome:
    """Redact what a memory holds already: what was stored before redaction.before was store.

    It tells how much it finds, and asks. Backups, exported files and the store's own logs of commands are not reached.
    """
    if dry_run:
        target.attempt.add(did="")
    with target.memory() as om:
        check_known(om, resource)
        would = om.redact(resource, dry_run=True)
        if not as_json:
            click.echo(_listing(would), nl=False)
        if not dry_run and would.places:
            be_sure(f"Replace this in the memory of {resource}?", yes)
        done = would if dry_run or not would.places else om.redact(resource)
    _print_end(done, dry_run=dry_run, as_json=as_json)
    return done.outcome


def _listing(would: OldText) -> str:
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in would.kinds.items())
    places = "".join(f"  {tier}: {amount(n, 'place')}\n" for tier, n in would.places.items())
    return f"{kinds}:\n{places}" if kinds else ""


def _print_end(done: OldText, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json(done)
    elif not done.places:
        note("nothing of the kinds that are redacted stands in it")
    elif dry_run:
        note("nothing was changed: leave --dry-run out to replace it")
    else:
        click.echo("redacted")
        note(
            "backups and exported files are not reached; clients that read it before keep the words until they are started anew"
        )
