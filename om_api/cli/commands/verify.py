"""`om verify`: whether a live store keeps its promises."""

import sys

import click

from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, command
from om_api.language.words import amount

_EMPTY = "no resource is there, so nothing is proved: see that OM_REDIS_URL and OM_PREFIX are those of your memories (om doctor)"


@command("om verify", "om verify --json | jq '.[].where'", audited="index_repaired")
@click.option("--repair", is_flag=True, help="Have the sweep make recall's index anew where it is broken or missing.")
@json_option
def verify(target: Target, repair: bool, as_json: bool) -> None:
    """Walk a live store and report every breach of its promises.

    Every message must be covered exactly once, and no observation may be lost. It says in how many resources and messages
    (raw, sealed, or behind observations) it looked: an empty store breaks no promise. Exit code 1 if there is a breach.
    """
    if not repair:
        target.attempt.add(did="")
    with target.memory() as om:
        breaches, resources, messages = om.examine()
        repaired = om.repair_index(breaches) if repair else 0
    looked = f"looked at {amount(resources, 'resource')} with {amount(messages, 'message')}"
    if as_json:
        print_json([breach._asdict() for breach in breaches])
    elif breaches:
        print_table(["where", "what"], breaches)
    if repaired:
        note(f"{amount(repaired, 'segment')} of recall's index removed: the next sweep makes what is lacking")
    if breaches:
        note(f"breaches: {len(breaches):,}; {looked}")
        sys.exit(1)
    note(f"no breach; {looked}" if resources else _EMPTY)
