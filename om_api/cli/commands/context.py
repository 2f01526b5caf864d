"""`om context`: what an agent's model would read."""

import click

from om_api.cli.checks import check_known
from om_api.cli.output import json_option, note, print_json, print_text
from om_api.cli.target import Target, command, resource_argument, thread_argument
from om_api.context import FORMS


@command(
    "om context harold thread-1",
    "om context harold thread-1 --format openai | jq '.[].role'",
    "om context harold thread-1 --format blocks --max-tokens 8000",
)
@resource_argument
@thread_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="text",
    show_default=True,
    help="Plain text, the request of a provider, or the blocks with tokens and hashes; all but text are JSON.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Leave the oldest raw messages out above this.")
@json_option
def context(target: Target, resource: str, thread: str, form: str, max_tokens: int | None, as_json: bool) -> None:
    """Print what an agent's model would read before its next turn.

    With --json an object, whose `context` is what --format says, beside its tokens and how many messages were left out.
    """
    with target.memory() as om:
        found = om.get_context(thread, resource, max_tokens)
        if not found.messages and not found.observations:
            check_known(om, resource, thread)
    shown = FORMS[form](found)
    if as_json:
        print_json({"format": form, "context": shown, "tokens": found.tokens, "omitted": found.omitted})
    else:
        print_text(shown) if form == "text" else print_json(shown)
    if found.omitted:
        note(f"older messages left out of this view: {found.omitted:,}; the memory keeps them")
