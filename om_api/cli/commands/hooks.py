"""`om hooks`: which hooks an agent has, how they are doing, and what they answer."""

from typing import Any, get_args

import click

from om_api.cli.checks import check_known
from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, command, examples, resource_argument
from om_api.domain.errors import InvalidInputError
from om_api.domain.webhooks.hook import Hook, Point
from om_api.hooks.asking import ask_all
from om_api.hooks.examples import EXAMPLES
from om_api.settings.sections.fields import format_duration

_POINTS = get_args(Point)
_point_argument = click.argument("point", type=click.Choice(_POINTS))


@click.group(epilog=examples("om hooks list harold", "om hooks try harold before_observe"))
def hooks() -> None:
    """See the hooks of an agent, and try them: code of your own around what models read and write (docs/hooks.md)."""


@command("om hooks list harold", "om hooks list harold --json", name="list", of=hooks)
@resource_argument
@json_option
def list_(target: Target, resource: str, as_json: bool) -> None:
    """List an agent's hooks in the order in which they are asked, and how often each failed.

    `runs in`: worker, or client, which is whoever reads contexts, and `om api`. `ready`: whether this environment has the entry
    point, or the secret; only where a hook runs does that matter.
    """
    with target.memory() as om:
        found = om.hooks(resource)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
        return
    columns = ("point", "hook", "kind", "runs in", "ready", "timeout", "on failure", "failures")
    rows = [
        (
            *(each.point, each.name, each.kind, each.runs_in, "yes" if each.ready else "no"),
            *(format_duration(each.timeout), each.on_failure, f"{each.failures:,}"),
        )
        for each in found
    ]
    if rows:
        print_table(columns, rows)
    else:
        note(f"{resource} has no hooks: the setting hooks names some (docs/hooks.md)")


@command("om hooks try harold before_observe", "om hooks try harold after_reflect --json", name="try", of=hooks)
@resource_argument
@_point_argument
@json_option
def try_(target: Target, resource: str, point: Point, as_json: bool) -> None:
    """Ask an agent's hooks of a POINT here and now, each with the same harmless example, and print what it changes.

    Nothing of any memory is read or written, and nothing is counted. Exit code 1: one of them failed.
    """
    settings = target.refreshed()
    found = settings.for_agent(resource).hooks.at(point)
    if not found:
        raise InvalidInputError(
            f"{resource} has no hook at {point}: om hooks list {resource} names those that there are"
        )
    tried = [_tried(point, hook, allow_private=settings.memory.webhooks.allow_private) for hook in found]
    if as_json:
        print_json(tried)
    else:
        print_table(("hook", "changes", "failed"), [(each["hook"], _told(each), each["failed"]) for each in tried])
    if any(each["failed"] for each in tried):
        raise click.exceptions.Exit(1)


def _tried(point: Point, hook: Hook, *, allow_private: bool) -> dict[str, Any]:
    given = EXAMPLES[point]
    came = ask_all(point, [hook], given, allow_private=allow_private)
    changes = {name: value for name, value in came.given.items() if name != "point" and value != given.get(name)}
    failed = "; ".join(f"{each.why}: {each.detail}" for each in came.failures)
    return {"hook": hook.name, "changes": changes, "failed": failed}


def _told(tried: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in tried["changes"].items()) or "nothing"
