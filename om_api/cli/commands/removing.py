"""`om clear` and `om forget`: removing what an owner no longer wants kept."""

from __future__ import annotations

import click

from om_api.cli.confirm import be_sure, yes_option
from om_api.cli.existence import check_known
from om_api.cli.help import command
from om_api.cli.output import json_option, note, print_json
from om_api.cli.target import Target, observation_argument, optional_thread, resource_argument


@command("om clear harold thread-1", "om clear harold --yes")
@resource_argument
@optional_thread
@yes_option
@json_option
def clear(target: Target, resource: str, thread: str | None, yes: bool, as_json: bool) -> None:
    """Remove a resource's whole memory, or one thread of it.

    What a reflection has merged beyond recognition stays in it and is named.
    """
    with target.memory() as om:
        check_known(om, resource)
        be_sure(f"Remove {f'thread {thread}' if thread else 'the whole memory'} of {resource}?", yes)
        done = om.clear(resource, thread)
    if as_json:
        print_json(done._asdict())
    else:
        click.echo(
            f"{done.outcome}: {done.observations:,} observations, and {done.messages:,} messages that were in none"
        )
    if done.merged:
        note(f"a reflection still holds what it made of: {', '.join(done.merged)}")


@command("om forget harold 019a9c6f0a6b5f0c2d1e3a4b5c6d", "om forget harold 019a9c6f0a6b5f0c2d1e3a4b5c6d --yes")
@resource_argument
@observation_argument
@yes_option
def forget(target: Target, resource: str, observation: str, yes: bool) -> None:
    """Remove one observation and the messages behind it, and print the outcome.

    `om observations` lists them with their ids.
    """
    be_sure(f"Remove observation {observation} of {resource} and its messages?", yes)
    with target.memory() as om:
        click.echo(om.forget(observation, resource))
