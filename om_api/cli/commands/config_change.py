"""`om config set` and `om config unset`: changing the settings of one agent, in its file or in the store."""

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, command
from om_api.domain.audit.audit_entry import only
from om_api.domain.errors import SettingsError
from om_api.settings.change import ChangedSettings, PlannedChange, WantedChange, Where, plan
from om_api.settings.environment import value_of
from om_api.settings.saving import save
from om_api.settings.sections.fields import SettingOwner
from om_api.settings.stored_layers import version_of
from om_api.store.fleet import stored_settings

_COLUMNS = ("key", "was", "is", "where from")
_WHERE = {True: "store", False: "file", None: None}
_SAVED = {
    "saved": "saved in {}: workers that read it take it up within seconds",
    "unchanged": "nothing to change: {} says so already",
    "dry_run": "nothing was saved: this is what {} would say",
    "superseded": "nothing was saved: {} was changed by somebody else meanwhile; look again, and repeat the command",
}


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    said = "in the store or in the agent's file; else in the store where it has an entry already or the file cannot be written"
    options = (
        click.option("--dry-run", is_flag=True, help="Show what would change, and save nothing."),
        click.option("--store/--file", "in_store", default=None, help=f"Save it {said}."),
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


agent_argument = click.argument("agent", metavar="AGENT")


@command(
    "om config set harold message_threshold=20000",
    "om config set harold observer.instruction='Keep every ticket number.' --dry-run",
    "om config set 'worker-*' observer_model='[deepseek, gemini-2.5-flash]' --store",
    name="set",
    audited="settings_changed",
)
@agent_argument
@click.argument("pairs", metavar="KEY=VALUE...", nargs=-1, required=True)
@_options
def set_(target: Target, agent: str, pairs: tuple[str, ...], **options: Any) -> None:
    """Change settings of an AGENT, or of all that a glob fits.

    KEY is dotted as `om config show` prints it, VALUE is written as in YAML. What would be in force is checked first, and
    nothing is saved that could not be. Comments and order of the file stay.
    """
    _change(target, agent, WantedChange(dict(map(_pair, pairs))), **options)


@command(
    "om config unset harold message_threshold",
    "om config unset harold observer.instruction --dry-run",
    audited="settings_changed",
)
@agent_argument
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@_options
def unset(target: Target, agent: str, keys: tuple[str, ...], **options: Any) -> None:
    """Have settings of an AGENT be what the layers below say again.

    A file or an entry of the store that states nothing any more is removed.
    """
    _change(target, agent, WantedChange(unset=keys), **options)


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(f"{text[:80]!r} has no value; permitted: KEY=VALUE, such as message_threshold=20000")
    return key, value_of(key, value, tuple(key.split(".")))


def _change(
    target: Target, agent: str, wanted: WantedChange, *, dry_run: bool, in_store: bool | None, as_json: bool
) -> None:
    where: Where | None = None if in_store is None else "store" if in_store else "file"
    planned = plan(target.refreshed(), agent, wanted, where, by=SettingOwner.ADMINISTRATOR)
    target.attempt.add(resource=only([agent]), **({"did": ""} if dry_run or planned.changes_nothing else {}))
    told = planned.told("dry_run" if dry_run else "unchanged" if planned.changes_nothing else _save(target, planned))
    if as_json:
        print_json(told)
    else:
        _print(told)
    if told.outcome == "superseded":
        sys.exit(1)


def _save(target: Target, planned: PlannedChange) -> Any:
    if planned.file:
        saved = save(planned.file, planned.after, version_of(planned.before))
    else:
        made = planned.agent, planned.before, planned.after, planned.relied_on
        saved = target.run(stored_settings.keep(target.keys(), *made))
    return "saved" if saved else "superseded"


def _print(told: ChangedSettings) -> None:
    click.echo(told.diff, nl=False)
    if told.began_as:
        note(f"it begins as a copy of {told.began_as}, of which nothing else would be in force beside it")
    if told.changed:
        rows = [(each.key, _shown(each.was), _shown(each.now), each.origin) for each in told.changed]
        print_table(_COLUMNS, rows, f"{told.agent}: what is in force", breaks=("was", "is", "where from"))
    for each in told.overruled:
        note(f"not in force: {each.key} is {_shown(each.value)} by {each.origin}, which is above it")
    for undone in told.notes:
        note(undone)
    note(_SAVED[told.outcome].format(told.place))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
