"""`om bench`: speed, cost and quality in figures. Runs the package `om_bench` of a checkout, which the wheel does not hold.

The bench replaces this process: a child process would go on, and pay for models, where this one is killed.
"""

import os
import sys
from importlib.util import find_spec

import click

from om_api.cli.target import Target


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def bench(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Measure speed, cost and quality. Needs a checkout of the repository."""
    if find_spec("om_bench") is None:
        raise click.UsageError("om bench runs from a checkout of the repository: clone it, then run `make bench` there")
    target: Target = ctx.obj
    environ = os.environ | ({"OM_REDIS_URL": target.url} if target.url else {})
    program = [sys.executable, "-m", "om_bench", *words]
    os.execve(sys.executable, program, environ)  # noqa: S606 - no shell
