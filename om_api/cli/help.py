"""What the end of a help text is made of, and a command that has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from om_api.cli.target import Target

_pass_target = click.make_pass_decorator(Target)


def examples(*commands: str) -> str:
    """Commands to copy, a line each."""
    return listing("Examples:", *commands)


def listing(title: str, *lines: str) -> str:
    """Lines under a title that click leaves as they are."""
    return "\n".join(("\b", title, *(f"  {line}" for line in lines)))


def command(
    *lines: str, name: str | None = None, of: click.Group | None = None
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function of a Target a command, of a group if one is named; its help ends with examples to copy."""
    make = of.command if of else click.command
    return lambda function: make(name, epilog=examples(*lines))(_pass_target(function))
