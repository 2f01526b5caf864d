"""Asking before something is removed for good."""

from __future__ import annotations

import click

from om_api.domain.errors import InvalidInputError

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def be_sure(question: str, yes: bool) -> None:
    """Ask unless the answer is known; raises InvalidInputError for anything but yes."""
    try:
        sure = yes or click.confirm(f"{question} This cannot be undone.", err=True)
    except click.Abort:  # nobody is there to answer
        click.echo(err=True)
        sure = False
    if not sure:
        raise InvalidInputError("nothing was removed: answer y, or pass --yes")
