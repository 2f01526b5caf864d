"""`om chunks`, `om observations`, `om history`, `om groups` and `om sources`: what became of messages, tier by tier."""

from collections.abc import Sequence
from itertools import chain

import click
import msgspec

from om_api.cli.checks import check_known
from om_api.cli.output import as_time, json_option, note, note_partial, print_json, print_table, print_text
from om_api.cli.target import Target, command, observation_argument, optional_thread, resource_argument
from om_api.client.reading import Era
from om_api.domain.messages import Message
from om_api.domain.notes.groups import ALL, NoteGroup, check_group, is_period
from om_api.domain.notes.marks import mark_of
from om_api.domain.values import Observation, SealedChunk
from om_api.domain.wire import encode_message

_MARKS = "🔴✅🟡🟢"  # what matters most first
_SHOWN = 120  # characters of a note in a table
_COLUMNS = ["observation", "thread", "priority", "from", "to", "messages", "tokens in", "tokens out", "marked", "note"]
_LEAST = ("marked", "tokens in", "tokens out", "to", "messages", "priority", "from", "thread")
_text_option = click.option("--text", "with_text", is_flag=True, help="Print the texts instead of a table.")


@command("om chunks harold", "om chunks harold thread-1", "om chunks harold --json | jq '.[] | select(.attempts > 1)'")
@resource_argument
@optional_thread
@json_option
def chunks(target: Target, resource: str, thread: str | None, as_json: bool) -> None:
    """List what is sealed and not activated yet, oldest first: of every thread, or of one.

    A chunk is being observed, or `ready` to become an observation. Its `attempts` are how often a model was asked.
    """
    with target.memory() as om:
        found = [SealedChunk.of(chunk) for chunk in om.chunks(resource, thread)]
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
    else:
        columns = ["chunk", "thread", "state", "sealed", "messages", "tokens", "attempts"]
        print_table(columns, map(_chunk, found), least=("attempts", "sealed", "tokens"))


def _chunk(each: SealedChunk) -> tuple[object, ...]:
    state = "ready" if each.ready else "being observed"
    return each.id, each.thread_id, state, as_time(each.sealed_at), each.messages, each.tokens, each.attempts


@command(
    "om observations harold",
    "om observations harold thread-1 --text",
    "om observations harold --marked --text",
    "om observations harold --json | jq -r '.[].id'",
)
@resource_argument
@optional_thread
@_text_option
@click.option("--marked", is_flag=True, help="Only those with marked lines; with --text these lines alone.")
@json_option
def observations(
    target: Target, resource: str, thread: str | None, with_text: bool, marked: bool, as_json: bool
) -> None:
    """List the observations in force, oldest first: of every thread, or of one.

    `marked` counts the lines that only quote what somebody said, since it is no order and no fact about the user.
    """
    with target.memory() as om:
        found = om.observations(resource, thread)
        if not found:
            check_known(om, resource)
    found = [each for each in found if each.marked or not marked]
    if as_json:
        print_json(found)
    elif marked and not found:
        note(f"no line of the observations in force of {resource} is marked")
    elif with_text:
        _print_texts([(f"observation {each.id} of {each.thread_id}", _lines(each.text, marked)) for each in found])
    else:
        rows = [_observation(each, _lines(each.text, marked)) for each in found]
        print_table(_COLUMNS, rows, least=_LEAST[1:] if marked else _LEAST)


def _observation(each: Observation, text: str) -> tuple[object, ...]:
    when, tokens = (as_time(each.from_), as_time(each.to)), (each.message_tokens, each.tokens)
    return (
        each.id,
        each.thread_id,
        each.priority,
        *when,
        len(each.message_ids),
        *tokens,
        each.marked,
        _foremost(text),
    )


def _lines(text: str, marked: bool) -> str:
    return "\n".join(line for line in text.split("\n") if mark_of(line)) if marked else text


def _foremost(text: str) -> str:
    """The line of notes that matters most, the first of several."""
    lines = [line.strip() for line in text.split("\n")]
    marked = (line for mark in _MARKS for line in lines if mark in line)
    items = (line for line in lines if line.startswith(("*", "-")))
    line = next(chain(marked, items, filter(None, lines)), "")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ..."


@command("om history harold", "om history harold thread-1 --text", "om history harold --json | jq '.[-1].text'")
@resource_argument
@optional_thread
@_text_option
@json_option
def history(target: Target, resource: str, thread: str | None, with_text: bool, as_json: bool) -> None:
    """List the generations, oldest first: what each took in, what it lost by the check, and what it cost.

    Of the observations that it replaced, those are `dropped` of which nothing is left in its text; with --json they are named.

    `om restore` makes an earlier one the text in force again. Name the THREAD where each thread keeps a memory of its
    own. With --json every generation carries the observations it replaced, as long as they are kept.
    """
    with target.memory() as om:
        eras = om.history(resource, thread)
        note_partial(eras.partial)
        if not eras:
            check_known(om, resource)
    if as_json:
        print_json([{**msgspec.to_builtins(era.generation), "replaced": era.replaced} for era in eras])
    elif with_text:
        _print_texts([(f"generation {era.generation.n}", era.generation.text) for era in eras])
    else:
        columns = ["generation", "origin", "time", "tokens in", "tokens out", "level", "loss", "model", "cost"]
        least = ("level", "loss", "cost", "observations replaced", "tokens in", "model")
        print_table([*columns, "observations replaced"], map(_era, eras), least=least)


def _era(era: Era) -> tuple[object, ...]:
    made = era.generation
    origin = made.origin if made.restores is None else f"{made.origin} of {made.restores}"
    loss = "-" if made.loss is None else f"{made.loss:.2f}"
    cost = "-" if made.cost is None else f"{made.cost:.4f}"
    what, sizes = (made.n, origin, as_time(made.created_at)), (made.input_tokens, made.tokens, made.level)
    return *what, *sizes, loss, made.model or "-", cost, _replaced(era)


def _replaced(era: Era) -> str:
    dropped = len({*era.generation.dropped_ids} & {*era.generation.observation_ids})
    return f"{len(era.generation.observation_ids) or len(era.replaced)}{f' ({dropped} dropped)' * bool(dropped)}"


def _print_texts(texts: Sequence[tuple[str, str]]) -> None:
    print_text("\n\n".join(f"== {title} ==\n{text}" for title, text in texts))


@command(
    "om groups harold",
    "om groups harold 2026-03",
    "om groups harold k3fq7a2m",
    "om groups harold --json | jq '.[].heading'",
)
@resource_argument
@click.argument("group", required=False)
@click.option("--thread", help="Only what is of this thread.")
@json_option
def groups(target: Target, resource: str, group: str | None, thread: str | None, as_json: bool) -> None:
    """List the groups of notes that were set aside (reflection.mode: archive), oldest first, or print one of them.

    GROUP is the name of one, as the list and the catalogue in contexts show it, or a month or a year, whose groups are listed.
    """
    wanted = check_group(group or ALL)
    with target.memory() as om:
        found = om.groups(resource, thread, within=wanted) if is_period(wanted) else om.group(wanted, resource, thread)
        note_partial(found.partial)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
    elif is_period(wanted):
        _print_groups([each for each in found if isinstance(each, NoteGroup)])
    else:
        print_text("\n".join(each.text for each in found if isinstance(each, Observation)))


def _print_groups(found: Sequence[NoteGroup]) -> None:
    columns = ["group", "thread", "from", "to", "notes", "tokens", "heading"]
    print_table(columns, map(_group, found), least=("to", "tokens", "notes", "thread", "from"))


def _group(each: NoteGroup) -> tuple[object, ...]:
    about = each.heading.partition(": ")[2]
    return each.id, each.thread_id, as_time(each.from_), as_time(each.to), each.notes, each.tokens, about


@command(
    "om sources harold 019a9c6f0a6b5f0c2d1e3a4b5c6d",
    "om sources harold 019a9c6f0a6b5f0c2d1e3a4b5c6d --json | jq '.[].content'",
)
@resource_argument
@observation_argument
@json_option
def sources(target: Target, resource: str, observation: str, as_json: bool) -> None:
    """Print the messages behind an observation, oldest first, as long as they are kept."""
    with target.memory() as om:
        found = om.sources(observation, resource)
        note_partial(found.partial)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json([msgspec.Raw(encode_message(message)) for message in found])
    else:
        print_table(["message", "thread", "time", "role", "text"], map(_row, found), least=("thread", "time"))
    if not found and not found.partial:
        note(f"no messages: those of {observation} have expired, or {resource} never had this observation")


def _row(message: Message) -> tuple[object, ...]:
    text = message.text() or ", ".join(sorted({str(part["type"]) for part in message.parts}))
    return message.id, message.thread_id, as_time(message.at), message.role, text
