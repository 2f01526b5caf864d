"""`om queues`: what waits, for how long, and who works it off."""

from om_api.cli.output import json_option, note, print_json, print_table
from om_api.cli.target import Target, command
from om_api.ops.queues import Queues, look


@command("om queues", "om queues --json | jq '.queues[] | select(.workers == 0) | .name'")
@json_option
def queues(target: Target, as_json: bool) -> None:
    """Show what waits in the queues and in the due indexes, when ticks ran, and which workers are alive.

    Unacked tasks are held by a worker that has not begun them. RabbitMQ does not tell how many are; of other brokers
    that are no Redis the tasks are not known.
    """
    found = look(target.settings())
    if as_json:
        print_json(found)
    else:
        _print(found)
    if found.problem:
        note(found.problem)


def _print(found: Queues) -> None:
    print_table(("queue", "tasks", "workers"), [(each.name, each.tasks, each.workers) for each in found.queues])
    print_table(
        ("due to", "now", "oldest", "waiting"),
        [(each.name, each.due, _seconds(each.oldest), each.waiting) for each in found.due],
    )
    print_table(
        ("tick", "ran", "every"),
        [(each.name, _ago(each.ago), _seconds(each.interval)) for each in found.ticks],
    )
    print_table(
        ("worker", "version", "queues"),
        [(each.name, each.version, ", ".join(each.queues) or "unknown") for each in found.workers],
    )
    if found.unacked is not None:
        note(f"unacked: {found.unacked:,}")


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:,.1f} s"


def _ago(value: float | None) -> str:
    return "not for a day" if value is None else f"{value:,.1f} s ago"
