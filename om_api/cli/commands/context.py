"""`om context`: what an agent's model would read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from om_api.cli.help import examples
from om_api.cli.known import check_known
from om_api.cli.output import note, print_json, print_text
from om_api.cli.target import Target, pass_target, resource_argument, thread_argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.context import Block, Context


def _text(found: Context) -> None:
    print_text(found.text)


def _blocks(found: Context) -> None:
    print_json([_block(block) for block in found.blocks])


def _block(block: Block) -> dict[str, object]:
    return {**msgspec.structs.asdict(block), "hash": block.hash}


_PRINT: dict[str, Callable[[Context], None]] = {
    "text": _text,
    "openai": lambda found: print_json(found.as_openai()),
    "anthropic": lambda found: print_json(found.as_anthropic()),
    "gemini": lambda found: print_json(found.as_gemini()),
    "blocks": _blocks,
}


@click.command(
    epilog=examples(
        "om context harold thread-1",
        "om context harold thread-1 --format openai | jq '.[].role'",
        "om context harold thread-1 --format blocks --max-tokens 8000",
    )
)
@resource_argument
@thread_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_PRINT)),
    default="text",
    show_default=True,
    help="Plain text, the request of a provider, or the blocks with tokens and hashes; all but text are JSON.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Leave the oldest raw messages out above this.")
@pass_target
def context(target: Target, resource: str, thread: str, form: str, max_tokens: int | None) -> None:
    """Print what an agent's model would read before its next turn."""
    with target.memory() as om:
        found = om.get_context(thread, resource, max_tokens)
        if not found.messages and not found.observations:
            check_known(om, resource)
    _PRINT[form](found)
    if found.omitted:
        note(f"older messages left out of this view: {found.omitted:,}; the memory keeps them")
