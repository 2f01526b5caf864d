"""`om bench`: what this system is worth in figures. Its rooms are the workers', so it runs as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from om_api.cli.help import examples

_file = click.Path(dir_okay=False, exists=True, path_type=Path)


@click.group(epilog=examples("om bench memory locomo10.json", "om bench memory --offline --json longmemeval_s.json"))
def bench() -> None:
    """Measure what a memory keeps, without a model. Needs the extra `bench`: pip install 'observational-memory[bench]'."""


@bench.command(
    epilog=examples(
        "om bench memory locomo10.json",
        "om bench memory --budget 0.05 --budget 0.1 --offline locomo10.json",
        "om bench memory --json chats/100K/1/chat.json | jq .online",
        "om bench memory --set message_threshold=8000 --set buffer_tokens=0.4 locomo10.json",
    )
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_file)
@click.option("--budget", "budgets", multiple=True, metavar="SHARE", type=click.FloatRange(0.001, 1),
              help="Share of a conversation's tokens that a context may have.  [default: 0.05, 0.1, 0.25]")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="Setting of the pipeline; may be repeated.  [default: message_threshold=3000, and what the documents"
                   " recommend beside it]")  # fmt: skip
@click.option("--offline", is_flag=True, help="Leave the pipeline out: no store is needed.")
@click.option("--json", "json_", is_flag=True, help="Print JSON instead of tables.")
@click.option("--write", type=_file, metavar="PAGE", help="Also replace the block `memory` of a Markdown page.")
@click.pass_context
def memory(
    ctx: click.Context,
    files: tuple[Path, ...],
    budgets: tuple[float, ...],
    settings: tuple[str, ...],
    offline: bool,
    json_: bool,
    write: Path | None,
) -> None:
    """Measure how many questions about recorded conversations a memory could answer.

    Reads files in the formats of LoCoMo, LongMemEval and BEAM (chat.json, its questions beside it). Shown are S, the share
    of the questions whose evidence a context holds, at given budgets, beside the newest turns, random turns and a search
    for each question; then what comes of pushing every message through the pipeline, on a store of its own or on that of
    OM_REDIS_URL.
    """
    words = [
        *(f"--budget={each}" for each in budgets),
        *(f"--set={each}" for each in settings),
        *(["--offline"] if offline else []),
    ]
    words += [*(["--json"] if json_ else []), *([f"--write={write}"] if write else []), "--", *map(str, files)]
    ctx.exit(_child("memory", *words))


@bench.command(epilog=examples("om bench speed", "om bench speed --only add_message --only get_context"))
@click.option("--only", "names", multiple=True, metavar="NAME", help="Measure only this; may be repeated.")
@click.option("--json", "json_", is_flag=True, help="Print JSON instead of a table.")
@click.option("--write", type=_file, metavar="PAGE", help="Also replace the block `speed` of a Markdown page.")
@click.pass_context
def speed(ctx: click.Context, names: tuple[str, ...], json_: bool, write: Path | None) -> None:
    """Measure how long our work takes beside what the store itself takes, both in one run.

    On a store of its own, or on that of OM_REDIS_URL. Let nothing else run on the machine meanwhile.
    """
    words = [*(f"--only={name}" for name in names), *(["--json"] if json_ else [])]
    ctx.exit(_child("speed", *words, *([f"--write={write}"] if write else [])))


def _child(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "om_workers.bench", *words], check=False).returncode  # noqa: S603 - no shell
