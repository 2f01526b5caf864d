"""`om context`: what an agent's model would read."""

import click

from om_api.cli.checks import check_known
from om_api.cli.output import json_option, note, note_left_out, print_json, print_text
from om_api.cli.target import Target, also_option, command, resource_argument, thread_argument
from om_api.context import FORMS


@command(
    "om context harold thread-1",
    "om context harold thread-1 --format openai | jq '.[].role'",
    "om context harold thread-1 --format blocks --max-tokens 8000",
    "om context harold thread-1 --also team-blue --also org",
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
@also_option
@json_option
def context(
    target: Target,
    resource: str,
    thread: str,
    form: str,
    max_tokens: int | None,
    also: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print what an agent's model would read before its next turn.

    With --json an object, whose `context` is what --format says, beside its tokens, how many messages were left out, and whose
    notes are composed into it: those of the setting compose, and of --also.
    """
    with target.memory() as om:
        found = om.get_context(thread, resource, max_tokens, also=also)
        if not found.messages and not found.observations:
            check_known(om, resource, thread)
    shown = FORMS[form](found)
    if as_json:
        told = {"format": form, "context": shown, "tokens": found.tokens, "omitted": found.omitted,
                "omitted_tokens": found.omitted_tokens}  # fmt: skip
        composed = {name: [each.id for each in some] for name, some in found.composed.items()}
        print_json({**told, "composed": composed, "left_out": found.left_out})
    else:
        print_text(shown) if form == "text" else print_json(shown)
    note_left_out(found.left_out)
    if found.omitted:
        note(f"older messages left out of this view: {found.omitted:,}; the memory keeps them")
    if lost := found.omitted_tokens.get("notes"):
        note(f"tokens of the oldest notes left out of this view: {lost:,}; om recall finds them")
