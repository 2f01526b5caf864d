"""`om line`, `om pin`, `om unpin` and `om pins`: what people write into a memory themselves."""

from getpass import getuser

import click

from om_api.cli.checks import check_known
from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table, typed
from om_api.cli.target import (
    Target,
    checked,
    command,
    examples,
    observation_argument,
    optional_thread,
    resource_argument,
    thread_argument,
)
from om_api.domain.values import Outcome, is_id
from om_api.store.lines.correcting import LineChange
from om_api.store.lines.pinning import Pinned


def somebody() -> str | None:
    """Who sits there, by their login, where that may name somebody."""
    try:
        name = getuser()
    except (OSError, KeyError):
        return None
    return name if is_id(name) else None


_thread_option = click.option("--thread", callback=checked, metavar="THREAD", help="Whose line, where several say so.")
by_option = click.option(
    "--by",
    callback=checked,
    default=somebody,
    metavar="NAME",
    help="Who says so, for events; else your login.",
)


@click.group(
    epilog=examples('om line add harold thread-1 "User never flies"', 'om line correct harold "in Oslo" "in Bergen"')
)
def line() -> None:
    """Add a line to a memory, correct one, or take that back.

    A line is named as a context shows it (om context), or by what it says behind its bullet, mark and time.
    """


@command(
    'om line add harold thread-1 "User never flies" --priority 5',
    'om line add harold thread-1 "* ✅ Visa granted"',
    of=line,
    audited="line_added",
)
@resource_argument
@thread_argument
@click.argument("text")
@click.option(
    "--priority",
    type=click.IntRange(1, 5),
    default=3,
    show_default=True,
    help="5: it matters for long, 1: it is small.",
)
@by_option
@json_option
def add(target: Target, resource: str, thread: str, text: str, priority: int, by: str | None, as_json: bool) -> Outcome:
    """Note a line: an observation of its own, of today, that covers no message."""
    with target.memory() as om:
        done = om.add_line(text, resource, thread, priority=priority, by=by or "")
    _print(done, as_json, typed(f"om line undo {resource} {done.observation_id}"))
    return done.outcome


@command(
    'om line correct harold "User lives in Oslo" "User lives in Bergen"',
    'om line correct harold "User lives in Oslo" ""',
    of=line,
    audited="line_corrected",
)
@resource_argument
@click.argument("was")
@click.argument("now")
@_thread_option
@click.option("--observation", callback=checked, metavar="ID", help="Of which observation, where several say so.")
@by_option
@json_option
def correct(
    target: Target,
    resource: str,
    was: str,
    now: str,
    thread: str | None,
    observation: str | None,
    by: str | None,
    as_json: bool,
) -> Outcome:
    """Have the line WAS say NOW; with an empty NOW it goes, and the details under it."""
    with target.memory() as om:
        check_known(om, resource)
        done = om.correct_line(was, now, resource, thread, observation_id=observation, by=by or "")
    back = f"om restore {resource} {done.generation - 1}{f' {thread}' if thread else ''}"
    _print(done, as_json, typed(f"om line undo {resource} {done.observation_id}" if done.observation_id else back))
    return done.outcome


@command("om line undo harold 019a9c6f0a6b5f0c2d1e3a4b5c6d", of=line, audited="line_undone")
@resource_argument
@observation_argument
@by_option
@json_option
def undo(target: Target, resource: str, observation: str, by: str | None, as_json: bool) -> Outcome:
    """Take back the newest correction of an OBSERVATION, of which three are kept; one that was only added goes."""
    with target.memory() as om:
        check_known(om, resource)
        done = om.undo_line(observation, resource, by=by or "")
    _print(done, as_json, "")
    return done.outcome


def _print(done: LineChange, as_json: bool, undone_by: str) -> None:
    if as_json:
        print_json(done)
        return
    print_outcome(done.outcome, as_json)
    if done.outcome in {Outcome.ADDED, Outcome.CORRECTED} and undone_by:
        note(f"{undone_by} takes it back")


@command(
    'om pin harold "User never flies"',
    'om pin harold "User never flies" --thread thread-1 --by lotte',
    audited="pinned",
)
@resource_argument
@click.argument("line")
@_thread_option
@by_option
@json_option
def pin(target: Target, resource: str, line: str, thread: str | None, by: str | None, as_json: bool) -> Outcome:
    """Have a LINE stay, word for word: every reflection holds it. `rest`: it was pinned already."""
    with target.memory() as om:
        check_known(om, resource)
        done = om.pin(line, resource, thread, by=by or "")
    _print_pinned(done, as_json, typed(f"om unpin {resource} {done.pin.id}"))
    return done.outcome


@command("om unpin harold 019a9c6f0a6b5f0c2d1e3a4b5c6d", 'om unpin harold "User never flies"', audited="unpinned")
@resource_argument
@click.argument("line")
@_thread_option
@by_option
@json_option
def unpin(target: Target, resource: str, line: str, thread: str | None, by: str | None, as_json: bool) -> Outcome:
    """Let a pinned LINE go, named by its pin's id or by what it says; it stays until a reflection leaves it out."""
    with target.memory() as om:
        check_known(om, resource)
        done = om.unpin(line, resource, thread, by=by or "")
    _print_pinned(done, as_json, "")
    return done.outcome


def _print_pinned(done: Pinned, as_json: bool, undone_by: str) -> None:
    if as_json:
        print_json(done)
        return
    print_outcome(done.outcome, as_json)
    if undone_by:
        note(f"{undone_by} lets it go")


@command("om pins harold", "om pins harold thread-1 --json")
@resource_argument
@optional_thread
@json_option
def pins(target: Target, resource: str, thread: str | None, as_json: bool) -> None:
    """List what is pinned: of every thread, or of one with what is common to all."""
    with target.memory() as om:
        found = om.pins(resource, thread)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
    else:
        columns = ("pin", "thread", "when", "by", "line")
        print_table(columns, [(e.id, e.thread, as_time(e.at), e.by, e.text) for e in found], least=("when", "by"))
