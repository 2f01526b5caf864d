"""What commands are made of: which store and configuration they are about, whom they name, the examples of their help."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from om_api.cli.attempt import CommandAttempt, changed_nothing, word_of
from om_api.cli.output import note
from om_api.client.auditing import limits_of
from om_api.client.memory import ObservationalMemory
from om_api.domain.audit.audit_entry import Ending
from om_api.domain.errors import InvalidInputError, OMError, SettingsError, StoreError
from om_api.domain.naming.ids import any_name
from om_api.domain.values import check_id
from om_api.settings import Settings, load_settings
from om_api.store.driver.connection import connected
from om_api.store.driver.steps import Askable
from om_api.store.fleet import audit_stream, stored_settings
from om_api.store.memory.keys import Keys, keys_of

T = TypeVar("T")
_URL = "OM_REDIS_URL"
_FROM_URL = f"environment {_URL}"
_OTHER_SERVER = "OM_STORAGE__REDIS__"
_GOES_ON = "going on with what of it can be used, and the defaults for the rest: correct it (om config check names all)"
_ANY_NAME = {"resource", "to_resource", "thread", "thread_id", "alias", "to"}
_KEPT = f"{_OTHER_SERVER}PREFIX"


class Target:
    """What `--url` and `--config` say; settings and memory are made of it when a command needs them.

    Unless `strict`, a command continues with a broken base file, and reports it once. `warn_unknown`: see load_settings.
    """

    def __init__(
        self, url: str | None = None, folder: Path | None = None, *, strict: bool = True, warn_unknown: bool = False
    ) -> None:
        self.url = url
        self.folder = folder
        self._strict, self._warn_unknown = strict, warn_unknown
        self._told = False
        self.attempt = CommandAttempt("", {})

    def settings(self) -> Settings:
        """The settings in force here; raises SettingsError."""
        settings = self.load(self.folder, strict=self._strict, warn_unknown=self._warn_unknown)
        if (broken := settings.broken_base) and not self._told:
            note(f"{broken.file}: {broken.text}; {_GOES_ON}")
            self._told = True
        return settings

    def refreshed(self) -> Settings:
        """The same with what the store says above files, as workers go by it; without it where the store cannot be asked."""
        settings = self.settings()
        with suppress(StoreError, ValueError):
            settings.refresh(self.run(stored_settings.read(keys_of(settings), settings.stored)))
        return settings

    def load(
        self,
        folder: Path | None,
        *,
        strict: bool,
        environ: Mapping[str, str] | None = None,
        warn_unknown: bool = False,
    ) -> Settings:
        """The settings that a folder and an environment say, else this process's; raises SettingsError."""
        try:
            own = self._environ() if environ is None else environ
            return load_settings(folder, own, strict=strict, warn_unknown=warn_unknown)
        except SettingsError as error:
            raise SettingsError(self.origin(str(error))) from None

    def keys(self) -> Keys:
        """The names of what is kept there; raises SettingsError."""
        return keys_of(self.settings())

    def memory(self) -> ObservationalMemory:
        """The store's client; connects at first use. Raises SettingsError, which shows no password."""
        settings = self.refreshed()
        try:
            return ObservationalMemory(settings, tally=False)  # who looks from here is no actor
        except OMError:
            raise
        except ValueError:  # its text may hold a part of the password
            raise SettingsError(f"{settings.safe_url(settings.redis_url)} is no address of a Redis server") from None

    def run(self, steps: Askable[T]) -> T:
        """Do steps against the store on a connection of their own; raises SettingsError, StoreError."""
        with connected(self.settings().redis_url) as connection:
            return connection.run(steps)

    def tell(self, outcome: Ending = "done", ended: str = "") -> None:
        """Tell the audit trail of what was attempted, once; says on stderr where the store does not take it."""
        entry = self.attempt.entry(outcome, ended)
        self.attempt = CommandAttempt("", {})
        if entry is None:
            return
        try:
            self.run(audit_stream.add(self.keys(), entry, limits_of(self.settings())))
        except StoreError as error:
            note(f"this is not in the audit trail (om audit): {self.settings().safe_url(str(error))}")

    def origin(self, text: str) -> str:
        """Where a value comes from, in the words of whoever typed the command."""
        return text.replace(_FROM_URL, "--url") if self.url else text

    def _environ(self) -> dict[str, str]:
        """The environment, with `--url` above whatever names another server there."""
        if not self.url:
            return dict(os.environ)
        others = {name for name in os.environ if name.startswith(_OTHER_SERVER) and name != _KEPT}
        return {name: text for name, text in os.environ.items() if name not in others} | {_URL: self.url}


_pass_target = click.make_pass_decorator(Target)


def examples(*commands: str) -> str:
    """Commands to copy, a line each."""
    return listing("Examples:", *commands)


def listing(title: str, *lines: str) -> str:
    """Lines under a title that click leaves as they are."""
    return "\n".join(("\b", title, *(f"  {line}" for line in lines)))


class AuditedCommand(click.Command):
    """A command; `audited` is the verb by which the audit trail tells of it, "" where it only looks."""

    def __init__(self, *given: Any, audited: str = "", **options: Any) -> None:
        super().__init__(*given, **options)
        self.audited = audited


def command(
    *lines: str, name: str | None = None, of: click.Group | None = None, audited: str = ""
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function of a Target a command, of a group if one is named; its help ends with examples to copy.

    What it does is told to the audit trail by the verb `audited`, with the Outcome that the function returns, if it does.
    """
    make = of.command if of else click.command

    make_it = make(name, cls=AuditedCommand, audited=audited, epilog=examples(*lines))
    return lambda function: make_it(_pass_target(_audited(function, audited) if audited else function))


def _audited(function: Callable[..., Any], did: str) -> Callable[..., Any]:
    """The same, told to the audit trail however it ends, unless nothing was done."""

    @wraps(function)
    def told(target: Target, /, **given: Any) -> None:
        target.attempt = CommandAttempt(did, given)
        try:
            result = function(target, **given)
        except (click.exceptions.Exit, SystemExit):  # it says by its code what it found
            target.tell()
            raise
        except BaseException as error:  # Ctrl-C too: what was asked for stands
            if not changed_nothing(error):
                target.tell("failed")
            raise
        target.tell(ended=word_of(result))

    return told


def stated_port(settings: Settings, name: str, usual: int) -> int:
    """The port that a variable of the environment names, else the usual one; raises SettingsError."""
    text = settings.variable(name) or str(usual)
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:  # noqa: PLR2004 - what TCP has
        raise SettingsError(f"environment {name}: {text[:40]!r} is no port; permitted: 1 to 65,535")
    return int(text)


def checked(_: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return an id that may name a key; raises InvalidInputError for any other, such as a shell's empty variable.

    Names of resources and threads are escaped, except those with `*`, which are refused because they may be patterns.
    """
    name = any_name(value) if value and param.name in _ANY_NAME else value
    if value and "*" in value and name != value:
        raise InvalidInputError(
            f"{param.name} {value[:80]!r} is not an id: it may be a pattern; name one {param.name}, or write {name}"
        )
    return name if name is None else check_id(name, param.name or "id")


resource_argument = click.argument("resource", callback=checked)
optional_resource = click.argument("resource", callback=checked, required=False)
thread_argument = click.argument("thread", callback=checked)
optional_thread = click.argument("thread", callback=checked, required=False)
observation_argument = click.argument("observation", callback=checked)


also_option = click.option(
    "--also",
    multiple=True,
    metavar="RESOURCE",
    help="Another resource whose notes count too, beside those of the setting compose; repeatable.",
)


def wait_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For how many seconds a command waits."""
    seconds = click.FloatRange(min=0)
    return click.option("--wait", type=seconds, default=30.0, show_default=True, metavar="SECONDS", help=text)
