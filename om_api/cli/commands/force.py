"""`om observe`, `om reflect`, `om pause` and `om resume`: asking the workers."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import click

from om_api.cli.checks import check_known
from om_api.cli.output import json_option, note, print_json, print_outcome
from om_api.cli.target import Target, command, optional_thread, resource_argument, wait_option
from om_api.client.held import Held
from om_api.client.memory import ObservationalMemory
from om_api.client.stats import Stats
from om_api.domain.values import Outcome

Ask: TypeAlias = Callable[[str | None, float], Outcome]
Answers: TypeAlias = list[tuple[str | None, Outcome]]  # whose they are, None: of the whole resource

_wait_option = wait_option("How long to wait for the workers' answer.")


@command("om observe harold", "om observe harold thread-1 --wait 120", audited="forced")
@resource_argument
@optional_thread
@_wait_option
@json_option
def observe(target: Target, resource: str, thread: str | None, wait: float, as_json: bool) -> None:
    """Have what is raw observed now, whatever the thresholds, and print the outcome.

    `activated`: done. `rest`: there was nothing to observe. `superseded`: the memory was cleared meanwhile. `busy`: requested,
    but not done yet; the reason, such as a used-up budget or a paused model, is printed with the time when it ends. Where each
    thread has its own memory and none is named, all threads are observed in turn, a line for each.
    """
    target.attempt.add(of="observe")
    with target.memory() as om:
        found = _ask(om, resource, thread, wait, lambda each, left: om.force_observe(each, resource, left))
        _tell(found, thread, wait, as_json, partial(om.held, resource, "observe"))


@command("om reflect harold", "om reflect harold thread-1 --wait 300", audited="forced")
@resource_argument
@optional_thread
@_wait_option
@json_option
def reflect(target: Target, resource: str, thread: str | None, wait: float, as_json: bool) -> None:
    """Have the observations condensed now, whatever the thresholds, and print the outcome.

    `reflected`: done. `rest`: there was nothing to condense. `busy`: asked for, and not done yet, as `om observe` says it.
    Where each thread keeps a memory of its own and none is named, every thread is asked in turn, a line for each.
    """
    target.attempt.add(of="reflect")
    with target.memory() as om:
        found = _ask(om, resource, thread, wait, lambda each, left: om.force_reflect(resource, each, left))
        _tell(found, thread, wait, as_json, partial(om.held, resource, "reflect"))


def _ask(om: ObservationalMemory, resource: str, thread: str | None, wait: float, ask: Ask) -> Answers:
    end = time.monotonic() + wait
    names = _threads(om, resource) if thread is None else [thread]
    outcomes = [ask(name, max(0.0, end - time.monotonic())) for name in names]
    if set(outcomes) <= {Outcome.REST}:
        check_known(om, resource, thread)
    return [*zip(names, outcomes, strict=True)]


def _tell(found: Answers, thread: str | None, wait: float, as_json: bool, held: Callable[[], Held | None]) -> None:
    if as_json:
        print_json([{"thread": name, "outcome": outcome} for name, outcome in found])
    for name, outcome in () if as_json else found:
        click.echo(outcome if name in {None, thread} else f"{name} {outcome}")
    if any(outcome is Outcome.BUSY for _, outcome in found):
        reason = held()
        note(
            f"not done after {wait:g} s: the request stands, and is answered as soon as a worker runs{' and may' * bool(reason)}"
        )
        if reason:
            note(str(reason))


def _threads(om: ObservationalMemory, resource: str) -> list[str | None]:
    """Whom to ask when no thread is named: the resource, or each thread that keeps a memory of its own."""
    found = om.stats(resource)
    if isinstance(found, Stats) and found.scope == "thread":
        return [each.id for each in om.threads(resource, archived=None)]
    return [None]


@command("om pause harold", "om pause new-agent --create", audited="paused")
@resource_argument
@click.option("--create", is_flag=True, help="Also a resource of which nothing is kept yet: before its first message.")
@json_option
def pause(target: Target, resource: str, create: bool, as_json: bool) -> None:
    """Stop whatever calls a model for a resource.

    Messages are kept, ready chunks and contexts served, until `om resume`.
    """
    with target.memory() as om:
        if not create:
            check_known(om, resource)
        om.pause(resource)
    print_outcome("paused", as_json, resource=resource)


@command("om resume harold", audited="resumed")
@resource_argument
@json_option
def resume(target: Target, resource: str, as_json: bool) -> None:
    """Let a paused resource go on."""
    with target.memory() as om:
        check_known(om, resource)
        om.resume(resource)
    print_outcome("resumed", as_json, resource=resource)
