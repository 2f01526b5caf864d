"""`om` itself: finds its commands by name, loads only the one that is asked for, and says in a line what failed."""

import importlib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from om_api.cli.target import Target, examples, listing
from om_api.domain.errors import NotFoundError, OMError, StoreError
from om_api.domain.extras import missing
from om_api.settings import Settings

SECTIONS = {
    "Start": ("up", "demo"),
    "Write and read": ("push", "context", "replay"),
    "Look inside": (
        *("recall", "browse", "top", "stats", "threads", "chunks", "observations", "history", "groups", "sources"),
        *("rejected", "extracted", "costs", "events", "audit"),
    ),
    "Ask the workers": ("observe", "reflect", "review", "pause", "resume"),
    "Correct": ("line", "pin", "unpin", "pins", "working-memory", "thread"),
    "Remove and move": ("clear", "forget", "erase", "redact", "restore", "migrate-scope", "export", "import"),
    "Check": ("config", "models", "hooks", "queues", "doctor", "health", "verify", "bench"),
    "Serve": ("api", "ui", "mcp", "keys", "acl", "webhooks", "partitions", "archive"),
}
_PLACES = {  # of commands whose module in `commands` has not their name
    **{name: f"om_api.cli.{name}" for name in SECTIONS["Start"]},
    **dict.fromkeys(("observe", "reflect", "pause", "resume"), "om_api.cli.commands.force"),
    **dict.fromkeys(SECTIONS["Correct"], "om_api.cli.commands.by_hand.lines"),
    **dict.fromkeys(SECTIONS["Remove and move"], "om_api.cli.commands.owning"),
    **dict.fromkeys(("chunks", "observations", "groups", "sources"), "om_api.cli.commands.history"),
    "health": "om_api.cli.commands.doctor",
    "review": "om_api.cli.commands.by_hand.review",
    **dict.fromkeys(("working-memory", "extracted"), "om_api.cli.commands.by_hand.working_memory"),
    "archive": "om_api.cli.commands.stores.archive",
    "partitions": "om_api.cli.commands.stores.partitions",
    "threads": "om_api.cli.commands.by_hand.thread",
    "thread": "om_api.cli.commands.by_hand.thread",
    "browse": "om_api.cli.commands.recall",
    "erase": "om_api.cli.commands.erase",
    "redact": "om_api.cli.commands.by_hand.redact",
}
PLACES = {  # the module of each command
    name: _PLACES.get(name, f"om_api.cli.commands.{name}") for section in SECTIONS.values() for name in section
}
# though the base file is broken
GO_ON = {*SECTIONS["Look inside"], "push", "context", "config", "queues", "doctor", "health", "verify"}
SERVES = {"api", "up"}  # an unknown OM_… variable ends these; the others log it
INTERRUPTED = 130


class Failure(click.ClickException):
    """The end of a command that was asked for something it cannot do: one line on stderr, without passwords."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(Settings.safe_url(message))


class NotFound(Failure):
    """The same, where it names what is not there."""

    exit_code = 1


class StoreFailure(Failure):
    """The same, where the store is at fault."""

    exit_code = 3


class Plain(click.Group):
    """A group that says in one line, without passwords, what failed."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises on purpose becomes one line on stderr and an exit code."""
        try:
            return super().invoke(ctx)
        except StoreError as error:
            raise StoreFailure(str(error)) from None
        except NotFoundError as error:
            raise NotFound(str(error)) from None
        except OMError as error:
            raise Failure(str(error)) from None
        except UnicodeError:
            raise Failure("text that is not UTF-8: convert it, then repeat") from None
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None


class Commands(Plain):
    """A group that imports a command's module when the command is asked for; one that is not there is not listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Every command's name, in the order of the sections; none is loaded for it."""
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """Load a command; None when there is none of that name, or its module is not installed.

        Raises MissingExtraError where it needs a package that is not installed.
        """
        module = PLACES.get(cmd_name, "")
        try:
            found = vars(importlib.import_module(module)).values() if module else ()
        except ModuleNotFoundError as error:
            if error.name != module:
                raise missing(error) from None
            return None
        return next((each for each in found if isinstance(each, click.Command) and each.name == cmd_name), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for; of a name that nobody has, say which one is nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if close := get_close_matches(args[0], PLACES, 1):
                raise click.UsageError(f"{error.message.rstrip('.')}: did you mean {close[0]}?", ctx) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their sections."""
        for title, names in SECTIONS.items():
            rows = [(name, text) for name in names if (text := self._in_short(ctx, name))]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _in_short(self, ctx: click.Context, name: str) -> str:
        """What a command does, in one line; "" where there is none. One that is broken must not cost us the others."""
        try:
            command = self.get_command(ctx, name)
        except ImportError as error:
            return f"(cannot be loaded: {error})"
        return command.get_short_help_str(120) if command else ""


_EXAMPLES = examples(
    'om push harold thread-1 "My flight is on Friday."',
    "om context harold thread-1",
    "om --url redis://127.0.0.1:6379/0 stats",
    "om --config ./config config check",
)
_EXIT_CODES = listing(
    "Exit codes:",
    "0    done; an outcome such as busy or duplicate is a word on stdout",
    "1    a check found something (config check, doctor, verify), what is named is not there, or a message says something",
    "     else than the one that was kept under its id (push, replay), or somebody else was first (config set, unset)",
    "2    wrong input or settings, which the line on stderr says how to correct; doctor: no store",
    "3    the store could not be reached, or refused",
    "130  interrupted",
)


@click.group(
    "om",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{_EXAMPLES}\n\n{_EXIT_CODES}",
)
@click.option("--url", metavar="URL", help="The store's address; else OM_REDIS_URL, else what the configuration says.")
@click.option(
    "--config",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The configuration's folder; else OM_CONFIG_DIR, else ./config.",
)
@click.version_option(package_name="cortex-om", prog_name="om", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, url: str | None, folder: Path | None) -> None:
    """Observational memory: write to it, read it, look inside, keep it in order."""
    command = ctx.invoked_subcommand
    ctx.obj = Target(url, folder, strict=command not in GO_ON, warn_unknown=command not in SERVES)
