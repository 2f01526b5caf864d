"""The page of commands, docs/cli.md; `make docs` writes it."""

from collections.abc import Iterator

import click
from settings_page import table

from om_api.cli import main
from om_api.cli.group import SECTIONS

_HEAD = """\
# Commands

<!-- Made by `make docs`. Change om_api/cli/ instead. -->

`om COMMAND --help` shows a command's options and examples. Commands that print an answer take `--json`. Tables fit the width of
the terminal; set `COLUMNS` when the output is piped.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | a check found a problem, the named thing does not exist, or a message was refused: its id belongs to another |
| 2 | wrong input or settings; for `om doctor`, no store |
| 3 | the store did not answer or refused |
| 130 | interrupted |
"""


def render_docs() -> str:
    """Return the whole page."""
    context = click.Context(main)
    parts = [_HEAD]
    for section, names in SECTIONS.items():
        rows = [row for name in names if (found := main.get_command(context, name)) for row in _rows(name, found)]
        parts.append(f"## {section}\n\n{table(('command', 'does'), rows)}")
    return "\n".join(parts)


def _rows(name: str, command: click.Command) -> Iterator[tuple[str, str]]:
    yield f"`om {name}`", command.get_short_help_str(limit=1_000).rstrip(".")
    if isinstance(command, click.Group):
        for verb, inner in sorted(command.commands.items()):
            yield f"`om {name} {verb}`", inner.get_short_help_str(limit=1_000).rstrip(".")
