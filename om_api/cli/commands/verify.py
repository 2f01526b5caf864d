"""`om verify`: whether a live store keeps its promises."""

from __future__ import annotations

import click

from om_api.cli.help import examples
from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, pass_target


@click.command(epilog=examples("om verify", "om verify --json | jq '.[].where'"))
@json_option
@click.pass_context
@pass_target
def verify(target: Target, ctx: click.Context, as_json: bool) -> None:
    """Walk a live store and report every breach of its promises.

    Every message must be covered exactly once, and no observation may be lost. Exit code 1 if there is a breach.
    """
    with target.memory() as om:
        breaches = om.verify()
    if as_json:
        print_json([breach._asdict() for breach in breaches])
    elif breaches:
        print_table(["where", "what"], breaches)
    if breaches:
        note(f"breaches: {len(breaches):,}")
        ctx.exit(1)
    note("no breach")
