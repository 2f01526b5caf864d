"""`om keys`: who may ask the HTTP API for what."""

from typing import Any

import click

from om_api.cli.output import as_time, json_option, note, print_json, print_table
from om_api.cli.target import Target, command, examples
from om_api.domain.api_keys import ApiKey, Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.settings.fields import parse_duration
from om_api.store.fleet import api_key_records

_key_argument = click.argument("key", metavar="KEY")
_ONCE = "this is the only time it is shown: send it as Authorization: Bearer …"


@click.group(
    epilog=examples("om keys create --resource harold --role writer", "om keys list", "om keys revoke 3f1c20a9be77")
)
def keys() -> None:
    """Make, list, revoke and rotate the keys of the HTTP API.

    A reader may read, a writer may also add messages and ask the workers, an operator may do everything: each for the
    resources it is bound to. What is kept of a key is a hash.
    """


def _seconds(_: click.Context, __: click.Parameter, value: str) -> float:
    try:
        return parse_duration(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no duration such as 30s, 5m or 1h") from None


@command(
    "om keys create --resource harold --role writer",
    "om keys create --resource harold --resource albert --role reader",
    "om keys create --resource '*' --role operator",
    of=keys,
)
@click.option("--resource", "resources", multiple=True, required=True, help="Whose memory; repeatable. '*': every one.")
@click.option("--role", type=click.Choice([role.value for role in Role]), required=True, help="What it may do.")
@json_option
def create(target: Target, resources: tuple[str, ...], role: str, as_json: bool) -> None:
    """Make a key and print its token."""
    key, token = target.run(api_key_records.create(target.keys(), resources, role))
    if as_json:
        print_json({**_row(key), "token": str(token)})
        return
    click.echo(token)
    note(f"key {key.id}, {key.role} of {', '.join(key.resources)}; {_ONCE}")


def _row(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "role": key.role,
        "resources": list(key.resources),
        "created": as_time(key.created_at),
        "rotated": as_time(key.rotated_at),
        "previous_until": as_time(key.previous_until),
    }


@command("om keys list", "om keys list --json | jq '.[] | select(.role == \"operator\")'", name="list", of=keys)
@json_option
def list_(target: Target, as_json: bool) -> None:
    """List the keys: their names, what they may do and for whom; no token is kept that could be shown."""
    found = [_row(key) for key in target.run(api_key_records.every(target.keys()))]
    if as_json:
        print_json(found)
        return
    rows = [{**row, "resources": ", ".join(row["resources"])}.values() for row in found]
    print_table(("id", "role", "resources", "created", "rotated", "previous until"), map(list, rows))


@command("om keys revoke 3f1c20a9be77", of=keys)
@_key_argument
def revoke(target: Target, key: str) -> None:
    """End a key: from the next request on it opens nothing."""
    if target.run(api_key_records.revoke(target.keys(), key)) is Outcome.SUPERSEDED:
        raise InvalidInputError(f"there is no key {key[:40]} (any more): om keys list names them")
    click.echo(Outcome.CLEARED)


@command("om keys rotate 3f1c20a9be77", "om keys rotate 3f1c20a9be77 --grace 1h", of=keys)
@_key_argument
@click.option("--grace", default="0s", show_default=True, callback=_seconds, help="How long the old token is accepted.")
def rotate(target: Target, key: str, grace: float) -> None:
    """Give a key another token, and print it; the old one ends at once, or after --grace."""
    click.echo(target.run(api_key_records.rotate(target.keys(), key, grace)))
    note(_ONCE)
