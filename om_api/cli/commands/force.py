"""`om observe`, `om reflect`, `om pause` and `om resume`: asking the workers."""

import time
from collections.abc import Callable
from typing import TypeAlias

import click

from om_api.cli.checks import check_known
from om_api.cli.output import note
from om_api.cli.target import Target, command, optional_thread, resource_argument, wait_option
from om_api.client.held import Work
from om_api.client.memory import ObservationalMemory
from om_api.client.stats import Stats
from om_api.domain.values import Outcome

Ask: TypeAlias = Callable[[str | None, float], Outcome]

_wait_option = wait_option("How long to wait for the workers' answer.")


@command("om observe harold", "om observe harold thread-1 --wait 120")
@resource_argument
@optional_thread
@_wait_option
def observe(target: Target, resource: str, thread: str | None, wait: float) -> None:
    """Have what is raw observed now, whatever the thresholds, and print the outcome.

    `activated`: done. `rest`: there was nothing to observe. `busy`: asked for, and not done yet; if something holds it, such
    as a budget or a model that rests, that is said, and until when. Where each thread
    keeps a memory of its own and none is named, every thread is asked in turn, a line for each.
    """
    with target.memory() as om:
        _ask(om, resource, thread, wait, lambda each, left: om.force_observe(each, resource, left), "observe")


@command("om reflect harold", "om reflect harold thread-1 --wait 300")
@resource_argument
@optional_thread
@_wait_option
def reflect(target: Target, resource: str, thread: str | None, wait: float) -> None:
    """Have the observations condensed now, whatever the thresholds, and print the outcome.

    `reflected`: done. `rest`: there was nothing to condense. `busy`: asked for, and not done yet, as `om observe` says it.
    Where each thread keeps a memory of its own and none is named, every thread is asked in turn, a line for each.
    """
    with target.memory() as om:
        _ask(om, resource, thread, wait, lambda each, left: om.force_reflect(resource, each, left), "reflect")


def _ask(om: ObservationalMemory, resource: str, thread: str | None, wait: float, ask: Ask, work: Work) -> None:
    end = time.monotonic() + wait
    names = _threads(om, resource) if thread is None else [thread]
    outcomes = [ask(name, max(0.0, end - time.monotonic())) for name in names]
    if set(outcomes) <= {Outcome.REST}:
        check_known(om, resource)
    for name, outcome in zip(names, outcomes, strict=True):
        click.echo(outcome if name in {None, thread} else f"{name} {outcome}")
    if Outcome.BUSY in outcomes:
        held = om.held(resource, work)
        note(
            f"not done after {wait:g} s: the request stands, and is answered as soon as a worker runs{' and may' * bool(held)}"
        )
        if held:
            note(str(held))


def _threads(om: ObservationalMemory, resource: str) -> list[str | None]:
    """Whom to ask when no thread is named: the resource, or each thread that keeps a memory of its own."""
    found = om.stats(resource)
    if isinstance(found, Stats) and found.scope == "thread":
        return [each.id for each in om.threads(resource)]
    return [None]


@command("om pause harold")
@resource_argument
def pause(target: Target, resource: str) -> None:
    """Stop whatever calls a model for a resource.

    Messages are kept, ready chunks and contexts served, until `om resume`.
    """
    with target.memory() as om:
        om.pause(resource)
    click.echo("paused")


@command("om resume harold")
@resource_argument
def resume(target: Target, resource: str) -> None:
    """Let a paused resource go on."""
    with target.memory() as om:
        om.resume(resource)
    click.echo("resumed")
