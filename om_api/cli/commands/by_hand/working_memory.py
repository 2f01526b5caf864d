"""`om working-memory` and `om extracted`: fields that an Actor keeps, and values that extractors found."""

from typing import Any

import click

from om_api.cli.checks import check_known
from om_api.cli.commands.by_hand.lines import by_option
from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table, print_text, typed
from om_api.cli.target import Target, checked, command, examples, optional_thread, resource_argument
from om_api.context.kept import as_text
from om_api.domain.errors import InvalidInputError
from om_api.domain.kept.working_memory import WorkingChange, schemas_of, value_of
from om_api.domain.values import Outcome

_thread = click.option("--thread", callback=checked, metavar="THREAD", help="Of which thread, where each has its own.")


@click.group(
    "working-memory",
    epilog=examples("om working-memory show harold", 'om working-memory set harold City=Graz "Prefers=short answers"'),
)
def working_memory() -> None:
    """Read what an agent keeps in fields, change it, or bring a former version back.

    Which fields there are, the setting working_memory.template says, or working_memory.json_schema.
    """


@command("om working-memory show harold", "om working-memory show harold --thread thread-1 --json", of=working_memory)
@resource_argument
@_thread
@json_option
def show(target: Target, resource: str, thread: str | None, as_json: bool) -> None:
    """Print what it says, as a context shows it."""
    with target.memory() as om:
        found = om.working_memory(resource, thread)
    if as_json:
        print_json(found)
        return
    print_text(found.text or "(nothing yet)")
    if found.version:
        note(f"version {found.version}, {as_time(found.at)}{f' by {found.by}' if found.by else ''}")


@command(
    "om working-memory set harold City=Graz Deadline=",
    """om working-memory set harold 'plan={"first": "read"}' --replace""",
    name="set",
    of=working_memory,
    audited="working_memory_updated",
)
@resource_argument
@click.argument("fields", nargs=-1, required=True, metavar="FIELD=VALUE...")
@_thread
@click.option("--replace", is_flag=True, help="Empty every field that is not named.")
@click.option("--version", type=click.IntRange(0), help="Change nothing where another version than this stands.")
@by_option
@json_option
def set_(
    target: Target,
    resource: str,
    fields: tuple[str, ...],
    thread: str | None,
    replace: bool,
    version: int | None,
    by: str | None,
    as_json: bool,
) -> Outcome:
    """Change fields; FIELD= empties one. A VALUE is JSON where it is an object or a list, or where the field takes no text."""
    said = dict(map(_field, fields))
    with target.memory() as om:
        schemas = schemas_of(om.settings.for_agent(resource).working_memory.json_schema)
        given = {field: value_of(value, schemas.get(field)) for field, value in said.items()}
        done = om.update_working_memory(given, resource, thread, replace=replace, version=version, by=by or "")
    _print(done, as_json, resource, thread)
    return done.outcome


@command("om working-memory undo harold", of=working_memory, audited="working_memory_undone")
@resource_argument
@_thread
@by_option
@json_option
def undo(target: Target, resource: str, thread: str | None, by: str | None, as_json: bool) -> Outcome:
    """Bring back what it said before the last change."""
    with target.memory() as om:
        done = om.undo_working_memory(resource, thread, by=by or "")
    _print(done, as_json, resource, thread)
    return done.outcome


@command("om working-memory versions harold", of=working_memory)
@resource_argument
@_thread
@json_option
def versions(target: Target, resource: str, thread: str | None, as_json: bool) -> None:
    """List its former versions, oldest first."""
    with target.memory() as om:
        found = om.working_memory_versions(resource, thread)
    if as_json:
        print_json(found)
    else:
        rows = [(each.version, as_time(each.at), each.by, _in_one_line(each.fields)) for each in found]
        print_table(("version", "when", "by", "fields"), rows, least=("when", "by"))


@command("om extracted harold", "om extracted harold thread-1 --json")
@resource_argument
@optional_thread
@json_option
def extracted(target: Target, resource: str, thread: str | None, as_json: bool) -> None:
    """Print what extractors found: of a thread and of the whole memory, or of this alone."""
    with target.memory() as om:
        found = om.extracted(resource, thread)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
        return
    for slug, each in found.items():
        print_text(f"{slug} ({as_time(each.at)}):\n{as_text(each.value)}\n")
    if not found:
        note("nothing yet: the setting extractors says what is looked for")


def _field(said: str) -> tuple[str, str]:
    name, sign, value = said.partition("=")
    if not sign:
        raise InvalidInputError(f"{said[:80]!r} says no value: write FIELD=VALUE, or FIELD= to empty it")
    return name.strip(), value


def _in_one_line(fields: dict[str, Any]) -> str:
    return "; ".join(f"{field}: {' '.join(as_text(value).split())}" for field, value in fields.items())


def _print(done: WorkingChange, as_json: bool, resource: str, thread: str | None) -> None:
    if as_json:
        print_json(done)
        return
    print_outcome(done.outcome, as_json)
    if done.outcome is Outcome.UPDATED:
        own = f" --thread {thread}" if thread else ""
        note(f"{typed(f'om working-memory undo {resource}{own}')} takes it back")
    elif done.outcome is Outcome.SUPERSEDED:
        note(
            f"it is of version {done.working_memory.version} by now, nothing was changed: read it, and repeat with that"
        )
