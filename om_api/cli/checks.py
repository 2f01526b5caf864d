"""What a command makes sure of: that a resource is known here, and that nothing is removed for good without a yes."""

from collections.abc import Sequence

import click

from om_api.cli.output import note
from om_api.client.memory import ObservationalMemory
from om_api.client.stats import Stats
from om_api.domain.errors import InvalidInputError

_SIGNS = (
    "threads",
    "message_tokens",
    "chunks",
    "observations",
    "generation",
    "observed_messages",
    "rejected",
    "paused",
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


class NotKnown(click.ClickException):
    """The end of a command that looked for a resource of which the store holds nothing."""

    exit_code = 1

    def __init__(self, resource: str) -> None:
        super().__init__(
            f"{resource} is not known here: nothing of it was ever kept, or all of it was cleared. "
            "`om stats` lists who is; check the name, --url and OM_PREFIX"
        )


def check_known(om: ObservationalMemory, resource: str) -> None:
    """Raise NotKnown when the store holds nothing of a resource."""
    found = om.stats(resource)
    signs = isinstance(found, Stats) and any(getattr(found, sign) for sign in _SIGNS)
    if not signs and not om.threads(resource):
        raise NotKnown(resource)


def note_broken(resources: Sequence[str]) -> None:
    """Say whose figures are missing because their keys hold what is not ours."""
    for resource in resources:
        note(f"broken: {resource}, its keys hold what is not ours, so it is left out: om verify names them")


def be_sure(question: str, yes: bool) -> None:
    """Ask unless the answer is known; raises InvalidInputError for anything but yes."""
    try:
        sure = yes or click.confirm(f"{question} This cannot be undone.", err=True)
    except click.Abort:  # nobody is there to answer
        click.echo(err=True)
        sure = False
    if not sure:
        raise InvalidInputError("nothing was removed: answer y, or pass --yes")
