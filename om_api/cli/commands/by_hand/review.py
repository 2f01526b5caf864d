"""`om review`: reflections that wait until somebody approves them, or sends them back."""

import getpass
from contextlib import suppress
from typing import IO

import click

from om_api.cli.checks import check_known
from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table, print_text
from om_api.cli.target import Target, command, examples, optional_thread, resource_argument
from om_api.client.memory import ObservationalMemory
from om_api.domain.notes.word_diff import marked_lines
from om_api.domain.values import Outcome, is_id
from om_api.store.reviews.drafts import Proposal


def _me() -> str:
    """Who types, where that is an id."""
    with suppress(KeyError, OSError, ImportError):
        if is_id(name := getpass.getuser()):
            return name
    return ""


_seen_option = click.option("--id", "seen", metavar="ID", help="The one that was read; else whatever waits.")
_by_option = click.option("--by", metavar="ID", default=_me, help="Who decides, for the event; else who you are here.")


class _OfResource(click.Group):
    """A group that shows what waits of a resource where it is given one instead of a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for."""
        if args and args[0] not in self.commands:
            return "show", self.commands["show"], args
        return super().resolve_command(ctx, args)


@click.group(
    cls=_OfResource,
    invoke_without_command=True,
    epilog=examples(
        "om review",
        "om review harold",
        "om review approve harold",
        'om review send-back harold --comment "Ada is his sister."',
    ),
)
@json_option
@click.pass_context
def review(ctx: click.Context, as_json: bool) -> None:
    """List the reflections that wait for you, show one, approve it or send it back.

    They do where `reflection.review` is `ask`. One that nobody reviews counts after `reflection.review_expires`. An agent that is
    called like one of the commands below is shown by `om review show`.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, as_json=as_json)


@command("om review list", "om review list --json | jq -r '.[].resource'", name="list", of=review)
@json_option
def list_(target: Target, as_json: bool) -> None:
    """List what waits, of every agent: since when, and until when; what counts soonest comes first."""
    with target.memory() as om:
        found = om.reviews()
    if as_json:
        print_json(found)
    elif found:
        rows = [(one.resource, one.thread, as_time(one.asked_at), as_time(one.expires_at), one.id) for one in found]
        print_table(("resource", "thread", "asked", "counts from", "id"), rows, least=("id",))
    else:
        note("nothing waits for a review")


@command("om review harold", "om review show harold thread-1 --text", of=review)
@resource_argument
@optional_thread
@click.option(
    "--text", "with_text", is_flag=True, help="Print the text alone, to be edited and approved with --text-file."
)
@json_option
def show(target: Target, resource: str, thread: str | None, with_text: bool, as_json: bool) -> None:
    """Show what waits of a resource, word by word against the generation in force.

    [-what goes-], {+what comes+}. Name the THREAD where each thread keeps a memory of its own.
    """
    with target.memory() as om:
        found = om.proposal(resource, thread)
        if found is None:
            check_known(om, resource)
    if as_json:
        print_json(found)
    elif found is None:
        note(f"nothing of {resource} waits for a review")
    elif with_text:
        print_text(found.generation.text)
    else:
        _show(found)


def _show(found: Proposal) -> None:
    made = found.generation
    rows: list[tuple[str, object]] = [
        ("asked", as_time(found.asked_at)),
        ("counts from", as_time(found.expires_at)),
        ("generation", made.n),
        ("observations", len(made.observation_ids)),
        ("of which dropped", len(made.dropped_ids)),
        ("tokens in", made.input_tokens),
        ("tokens out", made.tokens),
        ("loss", made.loss),
        ("model", made.model),
    ]
    print_table(("", found.id), rows)
    print_text("\n".join(marked_lines(found.before, made.text)))
    where = " ".join(filter(None, (found.resource, found.thread)))
    note(f"om review approve {where} --id {found.id}, or om review send-back {where} --id {found.id} --comment …")


@command(
    "om review approve harold",
    "om review approve harold --text-file edited.txt",
    of=review,
    audited="approved",
)
@resource_argument
@optional_thread
@_seen_option
@click.option("--text-file", type=click.File(encoding="utf-8"), help="A text that takes its place; - is stdin.")
@_by_option
@json_option
def approve(
    target: Target,
    resource: str,
    thread: str | None,
    seen: str | None,
    text_file: IO[str] | None,
    by: str,
    as_json: bool,
) -> Outcome:
    """Have what waits count, and print the outcome. `om restore` undoes it.

    `reflected`: it is in force. `superseded`: it does not wait (any more).
    """
    text = text_file.read() if text_file else None
    with target.memory() as om:
        check_known(om, resource)
        return _tell(om, om.approve(resource, thread, proposal=seen, text=text, by=by), resource, as_json)


@command(
    'om review send-back harold --comment "Ada is his sister."',
    name="send-back",
    of=review,
    audited="sent_back",
)
@resource_argument
@optional_thread
@click.option("--comment", default="", help="What is wrong with it, for the model.")
@_seen_option
@_by_option
@json_option
def send_back(
    target: Target, resource: str, thread: str | None, comment: str, seen: str | None, by: str, as_json: bool
) -> Outcome:
    """Have what waits thought again, and print the outcome.

    `sent_back`: the model is given the comment once, and what it makes of that waits as well. `superseded`: it does not wait (any
    more). Without a model, the extractive reflector says the same again.
    """
    with target.memory() as om:
        check_known(om, resource)
        return _tell(om, om.send_back(resource, thread, comment=comment, proposal=seen, by=by), resource, as_json)


def _tell(om: ObservationalMemory, done: Outcome, resource: str, as_json: bool) -> Outcome:
    print_outcome(done, as_json)
    if done is Outcome.SUPERSEDED:
        mode = om.settings.for_agent(resource).reflection.review
        asks = "" if mode == "ask" else f" (reflection.review of {resource} is {mode})"
        note(f"that does not wait for a review (any more){asks}: om review {resource} shows what does")
    return done
