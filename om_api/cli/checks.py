"""What a command makes sure of: that a resource is known here, and that nothing is removed for good without a yes."""

from collections.abc import Sequence
from difflib import get_close_matches

import click

from om_api.cli.attempt import DeclinedError
from om_api.cli.output import note
from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import NotFoundError, NotPermittedError

_AMONG = 10_000  # names that are compared: of more, finding the nearest would take seconds
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def check_known(om: ObservationalMemory, resource: str, thread: str | None = None) -> None:
    """Raise NotFoundError when the store holds nothing of a resource; it says which name is nearest, or that two were swapped."""
    if om.is_known(resource, thread):
        return
    if thread and _has_thread(om, thread, resource):
        raise NotFoundError(
            f"{resource} is not known here, but is a thread of {thread}: name the resource first, {thread} {resource}"
        )
    close = _nearest(om, resource)
    advice = f"did you mean {close}?" if close else "`om stats` lists who is; check the name, --url and OM_PREFIX"
    raise NotFoundError(
        f"{resource} is not known here: nothing of it was ever kept, or all of it was cleared; {advice}"
    )


def _has_thread(om: ObservationalMemory, resource: str, thread: str) -> bool:
    try:
        return any(each.id == thread for each in om.threads(resource, archived=None))
    except NotPermittedError:  # an agent's user
        return False


def _nearest(om: ObservationalMemory, resource: str) -> str | None:
    try:
        names = om.resources()
    except NotPermittedError:  # an agent's user
        return None
    return next(iter(get_close_matches(resource, names[:_AMONG], 1)), None)


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
        raise DeclinedError("nothing was removed: answer y, or pass --yes")
