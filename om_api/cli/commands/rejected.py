"""`om rejected`: what could not be accepted or observed, and what to do with it."""

from collections.abc import Iterable, Sequence

import click

from om_api.cli.checks import be_sure, check_known, note_broken, yes_option
from om_api.cli.output import as_time, json_option, note, print_json, print_table, print_text
from om_api.cli.target import Target, command, examples, optional_resource, resource_argument
from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import Outcome
from om_api.language.words import amount
from om_api.store.memory.quarantine import EndedEntry, Rejected

_NEWEST = 100

_entry_argument = click.argument("entry", metavar="ID")
_optional_entry = click.argument("entry", metavar="[ID]", required=False)
_all_option = click.option("--all", "everything", is_flag=True, help="Every entry of the resource.")


@click.group(epilog=examples("om rejected list", "om rejected list harold", "om rejected retry harold 3f1c20a9be77"))
def rejected() -> None:
    """Look at what could not be accepted or observed, and retry or drop it.

    `malformed`: it is no message. `changed`: the message of its id says something else. `ownerless`: it names no resource.
    `unobservable`: no model could observe it, and a placeholder stands for it in the memory.
    """


@command(
    "om rejected list",
    "om rejected list harold",
    "om rejected list harold --json | jq '.[].id'",
    name="list",
    of=rejected,
)
@optional_resource
@click.option("--newest", type=click.IntRange(1), default=_NEWEST, show_default=True, help="How many entries at most.")
@json_option
def list_(target: Target, resource: str | None, newest: int, as_json: bool) -> None:
    """List a resource's entries, oldest first; without a RESOURCE, which resources have any."""
    with target.memory() as om:
        if resource is None:
            _print_counts(*om.quarantines(), as_json)
            return
        found = om.rejected(resource, newest)
        stats = om.stats(resource)
        if not found:
            check_known(om, resource)
    if as_json:
        print_json(found)
        return
    columns = ("id", "when", "thread", "kind", "reason")
    print_table(columns, [(e.id, as_time(e.at), e.thread_id, e.kind, e.reason) for e in found], least=("when",))
    if len(found) == newest:
        note(f"only the newest {newest:,} are listed: --newest lists more")
    if dropped := 0 if isinstance(stats, list) else stats.rejected_dropped:
        note(f"{amount(dropped, 'entry', 'entries')} went because the quarantine was full: retry or drop what is in it")


def _print_counts(counts: dict[str, int], broken: Sequence[str], as_json: bool) -> None:
    if as_json:
        print_json(counts)
    elif counts:
        print_table(("resource", "rejected"), sorted(counts.items()))
    elif not broken:
        note("nothing was rejected")
    note_broken(broken)


@command("om rejected show harold 3f1c20a9be77", of=rejected)
@resource_argument
@_entry_argument
@json_option
def show(target: Target, resource: str, entry: str, as_json: bool) -> None:
    """Show a whole entry, with the message as it was written."""
    with target.memory() as om:
        check_known(om, resource)
        found = next((each for each in om.rejected(resource) if each.id == entry), None)
    if found is None:
        raise NotFoundError(f"{resource} has no rejected entry {entry}: om rejected list {resource} names them")
    if as_json:
        print_json(found)
        return
    print_table(("", found.id), _rows(found))
    print_text(found.member)


def _rows(found: Rejected) -> list[tuple[str, object]]:
    rows = [("kind", found.kind), ("thread", found.thread_id), ("when", as_time(found.at)), ("reason", found.reason)]
    if found.observation:
        rows.append(("placeholder", found.observation))
    if not found.utf8:
        rows.append(("bytes", "were no UTF-8 and are lost"))
    return [*rows]


@command("om rejected retry harold 3f1c20a9be77", "om rejected retry harold --all", of=rejected, audited="retried")
@resource_argument
@_optional_entry
@_all_option
@json_option
def retry(target: Target, resource: str, entry: str | None, everything: bool, as_json: bool) -> None:
    """Give a rejected message another chance, and print its id and the outcome.

    `sealed`: it will be observed again, its placeholder is gone. `busy`: it is raw again and the workers will judge it.
    `superseded`: there is no such entry (any more). What fails again comes back as a new entry.
    """
    with target.memory() as om:
        check_known(om, resource)
        names = _named(om, resource, entry, everything)
        _tell(resource, names, om.retry_rejected_each(resource, names), as_json)


@command("om rejected drop harold 3f1c20a9be77", "om rejected drop harold --all --yes", of=rejected, audited="dropped")
@resource_argument
@_optional_entry
@_all_option
@yes_option
@json_option
def drop(target: Target, resource: str, entry: str | None, everything: bool, yes: bool, as_json: bool) -> None:
    """Remove an entry, and print its id and the outcome.

    The memory stays as it is: a placeholder goes on standing for its message.
    """
    with target.memory() as om:
        check_known(om, resource)
        names = _named(om, resource, entry, everything)
        known = {each.id for each in om.rejected(resource)}
        if known.intersection(names):  # of what is not there nobody is asked, only told
            many = amount(len(names), "rejected entry", "rejected entries")
            what = many if everything else f"rejected entry {names[0]}"
            be_sure(f"Remove {what} of {resource}, with the message in it?", yes)
        _tell(resource, names, om.drop_rejected_each(resource, names), as_json)


def _named(om: ObservationalMemory, resource: str, entry: str | None, everything: bool) -> list[str]:
    """The entries a command is about; what comes back while it runs is not among them."""
    if everything == bool(entry):
        raise InvalidInputError(f"name an entry, or say --all: om rejected list {resource} names them")
    names = [each.id for each in om.rejected(resource)] if everything else [entry or ""]
    if not names:
        note(f"nothing of {resource} was rejected")
    return names


def _tell(resource: str, names: Sequence[str], ended: Iterable[EndedEntry], as_json: bool) -> None:
    done: list[EndedEntry] = []
    refused = 0
    for each in ended:
        if each.refusal and len(names) == 1:
            raise InvalidInputError(each.refusal)
        if each.refusal:
            refused += 1
            note(each.refusal)
            continue
        done.append(each)
        if not as_json:
            click.echo(f"{each.id} {each.outcome}")
        if each.outcome is Outcome.SUPERSEDED and len(names) == 1:
            note(f"{resource} has no such entry (any more): om rejected list {resource} names them")
    if as_json:
        print_json([{"id": each.id, "outcome": each.outcome} for each in done])
    if refused:
        raise InvalidInputError(f"{refused:,} of {len(names):,} entries of {resource} cannot be retried, and stay")
