"""`om ui`: the pages, in a browser."""

import json
import urllib.request
import webbrowser

import click

from om_api.cli.embedded import HOST
from om_api.cli.target import Target, command
from om_api.cli.up import API_PORT
from om_api.domain.errors import NotFoundError

_NEXT_PORTS = 20  # `om up` takes the first free one of them
_PATIENCE_S = 1.0


@command("om ui", "om ui --print", "om ui --port 8001")
@click.option(
    "--port", type=click.IntRange(1, 65_535), help="The API's port; else OM_API_PORT, else the first from 8000 on."
)
@click.option("--print", "only_print", is_flag=True, help="Only say where the pages are.")
def ui(target: Target, port: int | None, only_print: bool) -> None:
    """Open the pages that the API on this machine serves."""
    stated = port or target.settings().variable("OM_API_PORT")
    ports = [int(stated)] if stated else range(API_PORT, API_PORT + _NEXT_PORTS)
    found = next((each for each in ports if _answers(each)), None)
    if found is None:
        raise NotFoundError(
            f"no API answers on {HOST}, port {stated or API_PORT}: start one with `om up`, or with `om api`"
        )
    address = f"http://{HOST}:{found}/ui"
    click.echo(address)
    if not only_print and not webbrowser.open(address):
        click.echo("No browser could be started here: open the address yourself.", err=True)


def _answers(port: int) -> bool:
    """Whether an API of ours listens there."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/healthz", timeout=_PATIENCE_S) as reply:
            return bool(json.load(reply) == {"status": "alive"})
    except (OSError, ValueError):
        return False
