"""`om restore`: undoing reflections."""

from __future__ import annotations

import click

from om_api.cli.help import command
from om_api.cli.output import note
from om_api.cli.target import Target, optional_thread, resource_argument
from om_api.domain.values import Outcome


@command("om restore harold 3", "om restore harold 0", "om restore harold 3 thread-1")
@resource_argument
@click.argument("generation", type=click.IntRange(min=0))
@optional_thread
def restore(target: Target, resource: str, generation: int, thread: str | None) -> None:
    """Make the text of an earlier GENERATION the next one, and print the outcome; 0 is the time before the first.

    What was condensed since comes back as observations, what was observed since stays. Name the THREAD where each thread
    keeps a memory of its own. `om history` lists the generations; this can be undone in the same way.
    """
    with target.memory() as om:
        done = om.restore(resource, generation, thread)
        tokens, most = (
            om.record(resource, thread).observation_tokens,
            om.settings.for_agent(resource).observation_threshold,
        )
    click.echo(done)
    if done is Outcome.SUPERSEDED:
        note("the memory changed meanwhile, nothing was restored: repeat the command")
    elif tokens >= most:
        note(
            f"the observations are above the threshold, and will be condensed again: run om pause {resource} if they must not"
        )
