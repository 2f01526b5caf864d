"""`om threads` and `om thread`: which conversations there are, what they are called, and which names stand for them."""

from typing import get_args

import click
import msgspec

from om_api.cli.checks import check_known
from om_api.cli.commands.by_hand.lines import somebody
from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table
from om_api.cli.target import Target, checked, command, examples, resource_argument, thread_argument
from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import MemoryMode, Outcome, ThreadState
from om_api.store.threads.describing import Order


@command(
    "om threads harold",
    "om threads harold --by activity",
    "om threads harold --json | jq '.[] | select(.tokens > 1000) | .id'",
)
@resource_argument
@click.option(
    "--by", "order", type=click.Choice(["name", "activity"]), default="name", show_default=True, help="In which order."
)
@click.option("--archived", is_flag=True, help="Those that are archived.")
@click.option("--all", "every", is_flag=True, help="Those that are archived too.")
@json_option
def threads(target: Target, resource: str, order: Order, archived: bool, every: bool, as_json: bool) -> None:
    """List a resource's threads: what is not yet observed of each, its title and its task."""
    with target.memory() as om:
        found = om.threads(resource, order=order, archived=None if every else archived)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
        return
    rows = [
        (one.id, one.messages, one.tokens, as_time(one.at), one.title, one.current_task, _noted(one)) for one in found
    ]
    columns = ("thread", "messages", "tokens", "last message", "title", "current task", "noted from")
    print_table(columns, rows, least=("noted from", "title", "messages"))


def _noted(thread: ThreadState) -> str | None:
    return as_time(thread.current_task_at) if thread.current_task else None


@click.group(epilog=examples('om thread title harold thread-1 "The roof"', "om thread alias harold chat-2 thread-1"))
def thread() -> None:
    """Show a thread, give it a title, metadata or a memory mode, archive it, copy it, or have another name stand for it."""


@command("om thread show harold thread-1", "om thread show harold thread-1 --json", of=thread)
@resource_argument
@thread_argument
@json_option
def show(target: Target, resource: str, thread: str, as_json: bool) -> None:
    """Show what is known of a thread, by its name or an alias."""
    with target.memory() as om:
        found = _state(om, resource, thread)
    if as_json:
        print_json(found)
        return
    told = {name: value for name, value in msgspec.to_builtins(found).items() if value not in ("", 0, {}, None)}
    told |= {name: as_time(told[name]) for name in told if name == "at" or name.endswith("_at")}
    print_table(["", told.pop("id")], [(name.replace("_", " "), str(value)) for name, value in told.items()])


def _state(om: ObservationalMemory, resource: str, name: str) -> ThreadState:
    stands = om.thread_aliases(resource).get(name, name)
    if found := next((each for each in om.threads(resource, archived=None) if each.id == stands), None):
        return found
    check_known(om, resource)
    raise NotFoundError(f"{resource} has no thread {name}: `om threads {resource} --all` lists its threads")


@command(
    'om thread title harold thread-1 "The roof"',
    'om thread title harold thread-1 ""',
    of=thread,
    audited="thread_changed",
)
@resource_argument
@thread_argument
@click.argument("title")
@json_option
def title(target: Target, resource: str, thread: str, title: str, as_json: bool) -> None:
    """Give a thread a TITLE, which no suggestion replaces; an empty one has the Observer suggest one again."""
    with target.memory() as om:
        _print(om.set_thread(resource, thread, title=title, by=somebody() or ""), as_json)


@command(
    "om thread meta harold thread-1 project=roof owner=lotte", "om thread meta harold thread-1 owner=", of=thread,
    audited="thread_changed",
)  # fmt: skip
@resource_argument
@thread_argument
@click.argument("fields", nargs=-1, required=True, metavar="NAME=VALUE...")
@json_option
def meta(target: Target, resource: str, thread: str, fields: tuple[str, ...], as_json: bool) -> None:
    """Set fields of a thread's metadata, each NAME=VALUE: JSON or a text; without a value it goes."""
    given = dict(map(_field, fields))
    with target.memory() as om:
        now = _state(om, resource, thread).metadata | given
        kept = {name: value for name, value in now.items() if value is not None}
        _print(om.set_thread(resource, thread, metadata=kept, by=somebody() or ""), as_json)


def _field(text: str) -> tuple[str, object]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise InvalidInputError(f"{text[:80]!r} is no field: write NAME=VALUE, such as project=roof")
    try:
        return name, msgspec.json.decode(value) if value else None
    except msgspec.DecodeError:
        return name, value


@command("om thread memory harold thread-1 off", of=thread, audited="thread_changed")
@resource_argument
@thread_argument
@click.argument("mode", type=click.Choice(get_args(MemoryMode)))
@json_option
def memory(target: Target, resource: str, thread: str, mode: MemoryMode, as_json: bool) -> None:
    """Set a thread's memory mode, also before its first message.

    full: its messages are observed, and its contexts show the memory. off: neither. write_only: its contexts start without
    memory. read_only: it leaves no memory.
    """
    with target.memory() as om:
        _print(om.set_thread(resource, thread, memory=mode, by=somebody() or ""), as_json)


@command("om thread archive harold thread-1", of=thread, audited="thread_changed")
@resource_argument
@thread_argument
@json_option
def archive(target: Target, resource: str, thread: str, as_json: bool) -> None:
    """Have a thread out of sight, in lists and in other threads' contexts, until it gets a message."""
    with target.memory() as om:
        _print(om.set_thread(resource, thread, archived=True, by=somebody() or ""), as_json)


@command("om thread unarchive harold thread-1", of=thread, audited="thread_changed")
@resource_argument
@thread_argument
@json_option
def unarchive(target: Target, resource: str, thread: str, as_json: bool) -> None:
    """Have an archived thread in sight again."""
    with target.memory() as om:
        _print(om.set_thread(resource, thread, archived=False, by=somebody() or ""), as_json)


def _print(found: ThreadState, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        row = found.id, found.title, found.memory, "yes" if found.archived_at else "no"
        print_table(["thread", "title", "memory", "archived"], [row])


@command("om thread alias harold chat-2 thread-1", of=thread, audited="thread_aliased")
@resource_argument
@click.argument("alias", callback=checked)
@thread_argument
@json_option
def alias(target: Target, resource: str, alias: str, thread: str, as_json: bool) -> None:
    """Have the name ALIAS stand for THREAD: one conversation that changed its id.

    Whatever is written to or read of ALIAS is the thread's from then on, and what it holds by itself becomes the thread's.
    """
    with target.memory() as om:
        check_known(om, resource)
        made = om.alias_thread(alias, thread, resource)
    if as_json:
        print_json(made)
    else:
        columns = ["alias", "thread", "messages", "known before", "observations"]
        print_table(columns, [(made.alias, made.thread, made.messages, made.known, made.observations)])


@command("om thread unalias harold chat-2", of=thread, audited="thread_unaliased")
@resource_argument
@click.argument("alias", callback=checked)
@json_option
def unalias(target: Target, resource: str, alias: str, as_json: bool) -> Outcome:
    """End an alias. What came by it stays with the thread; its name is free again."""
    with target.memory() as om:
        check_known(om, resource)
        done = om.unalias_thread(alias, resource)
    if done is Outcome.REST:
        note(f"{alias} is no alias of {resource}: om thread aliases {resource} lists those that there are")
    print_outcome(done, as_json)
    return done


@command("om thread aliases harold", of=thread)
@resource_argument
@json_option
def aliases(target: Target, resource: str, as_json: bool) -> None:
    """List the names that stand for threads."""
    with target.memory() as om:
        found = om.thread_aliases(resource)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
    else:
        print_table(["alias", "thread"], [*found.items()])


@command("om thread copy harold thread-1 thread-1b --until m-12", of=thread, audited="thread_copied")
@resource_argument
@thread_argument
@click.argument("to", callback=checked)
@click.option(
    "--until", callback=checked, metavar="MESSAGE", help="The last message that the copy has; else the last of all."
)
@click.option("--to-resource", callback=checked, metavar="RESOURCE", help="Of another resource.")
@json_option
def copy(
    target: Target, resource: str, thread: str, to: str, until: str | None, to_resource: str | None, as_json: bool
) -> None:
    """Make a thread TO that reads as THREAD does up to a message, and goes on by itself."""
    with target.memory() as om:
        check_known(om, resource)
        made = om.copy_thread(thread, to, resource, until=until, to_resource=to_resource)
    if as_json:
        print_json(made)
    else:
        print_table(
            ["thread", "of", "messages", "last"], [(made.thread_id, made.resource_id, made.messages, made.message_id)]
        )
