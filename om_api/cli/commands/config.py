"""`om config`: which settings are in force, why, whether they can be, and changing those of one agent."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from om_api.cli.commands import config_change
from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, command, examples, optional_resource
from om_api.domain.errors import SettingsError
from om_api.settings import FileProblem
from om_api.settings.catalogue import BASE_FILE
from om_api.settings.composed_memories import lacking_consent
from om_api.settings.files import is_there
from om_api.settings.folder import Folder
from om_api.settings.live import Setting, rows
from om_api.settings.unread import unread

_COLUMNS = ("key", "value", "where from")


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "om config", "om config show harold", "om config check ./config", "om config set harold message_threshold=20000"
    ),
)
@json_option
@click.pass_context
def config(ctx: click.Context, as_json: bool) -> None:
    """Show, check or change the configuration; alone, it shows it."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, as_json=as_json)
    elif as_json:
        raise click.UsageError(f"write --json behind it: om config {ctx.invoked_subcommand} --json")


config.add_command(config_change.set_)
config.add_command(config_change.unset)


@command(
    "om config show",
    "om config show harold",
    "om config show harold --json | jq '.settings.message_threshold'",
    of=config,
)
@optional_resource
@json_option
def show(target: Target, resource: str | None = None, as_json: bool = False) -> None:
    """Show the settings in force, and where each value comes from.

    With a RESOURCE: those of this agent. Without: those of every agent without an override, then what each override
    changes. With --json a list of agents, each with all its settings; durations are seconds.
    """
    settings = target.refreshed()
    agents = [resource] if resource else [None, *settings.agents()]
    found = {
        agent: [msgspec.structs.replace(row, origin=target.origin(row.origin)) for row in rows(settings, agent)]
        for agent in agents
    }
    if as_json:
        everyone = [
            {"agent": agent, "settings": {row.key: {"value": row.value, "from": row.origin} for row in own}}
            for agent, own in found.items()
        ]
        print_json(everyone[0] if resource else everyone)
    else:
        _print(found)
    for problem in settings.problems:
        if problem != settings.broken_base:  # which was said already
            note(f"not in force: {_line(problem)}")


def _print(found: dict[str | None, list[Setting]]) -> None:
    base = set(map(repr, found.get(None, [])))
    for agent, own in found.items():
        changed = own if agent is None else [row for row in own if repr(row) not in base]
        title = f"{agent} (what it changes)" if agent and base else agent or "every agent without an override"
        print_table(
            _COLUMNS, [(row.key, row.shown(), row.origin) for row in changed], title, breaks=("value", "where from")
        )


@command("om config check", "om config check ./config", "om config check ./config --json | jq '.[].file'", of=config)
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False
)
@json_option
def check(target: Target, folder: Path | None, as_json: bool) -> None:
    """Check the configuration, agents' files and environment included; for CI.

    Prints every problem of every file, and files and folders that are not read. Exit code 1 if there is one, else 0. Warns of
    links in compose that the other memory does not permit in its files; the store, which may hold its consent, is not read.
    Warns of agents whose own file leaves out administrators' settings of the glob that would apply without it.
    """
    problems = _problems(target, folder)
    if as_json:
        print_json([problem._asdict() for problem in problems])
    for problem in () if as_json else problems:
        click.echo(_line(problem))
    for warning in _warnings(target, folder):
        note(f"warning: {warning}")
    if problems:
        sys.exit(1)
    note("no problems")


def _warnings(target: Target, folder: Path | None) -> list[str]:
    """Links to which the other memory's files do not consent, and settings of globs that an own file hides."""
    with suppress(SettingsError):
        settings = target.load(folder or target.folder, strict=False)
        links = [(name, *link) for name in ("*", *settings.agents()) for link in settings.links(name).refused]
        unshared = [
            f"unshared: compose of {agent} names {other}, but {lacking_consent(agent, other, key)}"
            for agent, other, key in links
        ]
        return [*unshared, *(f"hidden: {each}" for each in settings.loaded.hidden())]
    return []


def _problems(target: Target, folder: Path | None) -> list[FileProblem]:
    """What is wrong with a folder and the environment, each mistake by itself."""
    if folder and not is_there(folder / BASE_FILE):
        lacking = FileProblem(str(folder), f"holds no {BASE_FILE}: name the folder that does")
        return unread(Folder(folder, {})) or [lacking]
    found = dict[FileProblem, None]()
    for environ in (None, _only_the_place()):
        try:
            settings = target.load(folder or target.folder, strict=False, environ=environ)
        except SettingsError as error:
            found |= {FileProblem("", line): None for line in str(error).splitlines()}
        else:
            return [*found, *settings.mistakes(), *unread(settings.folder)]
    return [*found]


def _only_the_place() -> dict[str, str]:
    """An environment without what may be wrong with it."""
    return {name: text for name, text in os.environ.items() if not name.startswith("OM_") or name == "OM_CONFIG_DIR"}


def _line(problem: FileProblem) -> str:
    return f"{problem.file}: {problem.text}" if problem.file else problem.text
