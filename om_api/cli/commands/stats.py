"""`om stats` and `om threads`: how full a memory is."""

import msgspec

from om_api.cli.checks import check_known, note_broken
from om_api.cli.output import as_time, json_option, note, print_fields, print_json, print_table, words
from om_api.cli.target import Target, command, optional_resource
from om_api.client.stats import Stats

_TIERS = ("message_tokens", "chunk_tokens", "observation_tokens", "reflection_tokens", "generation", "compression")
_OVERVIEW = (
    "resource",
    "scope",
    "threads",
    *_TIERS,
    "due",
    "lag",
    "rejected",
    "reviews",
    "cost_today",
    "budget_reached",
)
_LEAST = (
    "reviews",
    "scope",
    "compression",
    "threads",
    "budget_reached",
    "cost_today",
    "generation",
    "lag",
    "chunk_tokens",
)


@command("om stats", "om stats harold", "om stats harold --json | jq .observation_tokens")
@optional_resource
@json_option
def stats(target: Target, resource: str | None, as_json: bool) -> None:
    """Show how full a resource's memory is, or every resource's.

    Tokens are counted by tier; compression is the tokens observed over the tokens they take now. What models cost today is
    in dollars; om costs says more.
    """
    with target.memory() as om:
        found, broken = om.overview() if resource is None else (om.stats(resource), [])
        if resource:
            check_known(om, resource)
    if as_json:
        print_json(found)
    elif not isinstance(found, list):
        _print_one(found)
    elif found or broken:
        print_fields(found, _OVERVIEW, least=_LEAST)
    else:
        note("no worker has met a resource yet: name one to look at it")
    note_broken(broken)


def _print_one(found: Stats) -> None:
    fields = msgspec.structs.asdict(found)
    problems, fields["cache_cold_at"] = fields.pop("problems"), as_time(found.cache_cold_at)
    print_table(["", found.resource], [(words(name), value) for name, value in fields.items() if name != "resource"])
    for problem in problems:
        note(f"problem: {problem}")
    if found.budget_reached:
        note(f"used up: {found.budget_reached}; what is next: om costs {found.resource}")
    if found.scope != found.configured_scope:
        note(f"configured is {found.configured_scope}: om migrate-scope {found.resource} --to {found.configured_scope}")
