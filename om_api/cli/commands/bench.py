"""`om bench`: what this system is worth in figures. Its rooms are the workers', so another program takes over this process.

A program beside this one would go on, and pay for models, where this one is killed.
"""

import os
import sys

import click

from om_api.cli.target import Target


@click.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def bench(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Measure speed, cost, and what a memory keeps."""
    target: Target = ctx.obj
    environ = os.environ | ({"OM_REDIS_URL": target.url} if target.url else {})
    program = [sys.executable, "-m", "om_bench", *words]
    os.execve(sys.executable, program, environ)  # noqa: S606 - no shell
