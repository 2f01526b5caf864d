"""`om push`: keep one message."""

import sys
from typing import Any, get_args

import click
import msgspec

from om_api.cli.output import json_option, print_json
from om_api.cli.target import Target, checked, command, resource_argument, thread_argument
from om_api.client.receipts import Receipt
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import ROLES
from om_api.domain.texts.surrogates import decode_json, whole_text
from om_api.domain.values import MemoryMode
from om_api.domain.vendors.message import ROLES as VENDORS_ROLES


@command(
    'om push harold thread-1 "My flight is on Friday."',
    'om push harold thread-1 --role assistant --id m-2 "Which airport?"',
    "git log -1 | om push harold thread-1 -",
    """om push harold thread-1 --message '{"type": "function_call_output", "call_id": "c-1", "output": "4"}'""",
)
@resource_argument
@thread_argument
@click.argument("text", required=False)
@click.option(
    "--message", is_flag=True, help="TEXT is a message in JSON, ours or as OpenAI, Anthropic or Gemini write it."
)
@click.option(
    "--role", type=click.Choice([*ROLES, *VENDORS_ROLES]), show_default="user", default=None, help="Who says TEXT."
)
@click.option("--id", "name", metavar="ID", callback=checked, help="The message's id; one is made if you name none.")
@click.option("--timestamp", help="When it was said: ISO 8601 or Unix; now if you do not say.")
@click.option("--memory", type=click.Choice(get_args(MemoryMode)), help="Set the thread's memory mode first.")
@click.option("--replace", is_flag=True, help="Put it in the place of what its id says otherwise, while that is raw.")
@json_option
def push(
    target: Target,
    resource: str,
    thread: str,
    text: str | None,
    message: bool,
    role: str | None,
    name: str | None,
    timestamp: str | None,
    memory: MemoryMode | None,
    replace: bool,
    as_json: bool,
) -> None:
    """Keep a message, and print its id and what became of it.

    TEXT is read from stdin when it is missing or `-`. An id is known while anything of its message is kept. Under a known
    one the same again is a `duplicate`; more has `grown`, and the rest is kept too; anything else is `changed`: nothing is
    kept, what to do is said, and the exit code is 1. With --replace it is `replaced` while it is raw.
    """
    content = sys.stdin.buffer.read().decode().removesuffix("\n") if text in {None, "-"} else text
    if not content.strip():
        raise InvalidInputError("there is no text: write it after the thread, or pipe it in")
    if message and role:
        raise InvalidInputError("--role is of a text alone: write the role into the message")
    given = _read(content) if message else {"role": role or "user", "content": content}
    said = {**given, **({"id": name} if name else {}), **({"timestamp": timestamp} if timestamp else {})}
    with target.memory() as om:
        placed = {**said, "thread_id": thread, "resource_id": resource}
        receipt = om.add_message(placed, replace=replace, memory=memory)
    _tell(receipt, as_json)
    if receipt.changed:
        sys.exit(1)


def _tell(receipt: Receipt, as_json: bool) -> None:
    """Print what became of the one message."""
    words = {"grown": receipt.grown, "changed": receipt.changed, "replaced": receipt.replaced}
    other = next((word for word, those in words.items() if those), "duplicate")
    outcome, advice = "added" if receipt.added else other, [each.advice for each in receipt.changed]
    if receipt.ahead:
        late = receipt.ahead_ms / 1000
        advice.append(f"dated {late:,.0f} s ahead of the server's clock: it is ordered by its arrival")
    if as_json:
        print_json({"id": receipt.ids[0], "outcome": outcome, **({"advice": advice[0]} if advice else {})})
    else:
        click.echo(": ".join([f"{receipt.ids[0]} {outcome}", *advice]))


def _read(text: str) -> dict[str, Any]:
    try:
        return decode_json(whole_text(text).encode(), msgspec.json.Decoder(dict[str, Any]).decode)
    except (msgspec.DecodeError, RecursionError) as error:
        example = '{"role": "user", "content": "My flight is on Friday."}'
        raise InvalidInputError(f"the message is no object of JSON: {error}; write it as {example}") from None
