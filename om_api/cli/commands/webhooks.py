"""`om webhooks`: who is sent what happens, as it happens."""

import click

from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table
from om_api.cli.target import Target, command, examples, wait_option
from om_api.domain.audit.audit_entry import only
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import Outcome
from om_api.domain.webhooks.webhook import ID, Webhook
from om_api.language.words import amount
from om_api.store.fleet import webhook_queue, webhook_records
from om_api.store.fleet.webhook_records import WebhookState

_URL = "https://example.org/om"
_ID = "3f1c20a9be77"
_NOT_SENT = 1


def _checked(_: click.Context, __: click.Parameter, value: str) -> str:
    if not ID.fullmatch(value):
        raise InvalidInputError(f"{value[:40]!r} is no webhook's id: om webhooks list names them")
    return value


_webhook_argument = click.argument("webhook", metavar="ID", callback=_checked)


@click.group(epilog=examples(f"om webhooks add {_URL} --events reflected,failed", "om webhooks list"))
def webhooks() -> None:
    """Have events sent to your own programs: signed, tried again when that fails, listed when it fails for good.

    docs/webhooks.md says how a receiver verifies what comes.
    """


@command(
    f"om webhooks add {_URL}",
    f"om webhooks add {_URL} --events reflected,failed,budget_reached --resource 'worker-*'",
    of=webhooks,
    audited="webhook_added",
)
@click.argument("url")
@click.option("--events", multiple=True, metavar="KIND,…", help="Only these kinds; docs/events.md lists them.")
@click.option("--resource", "resources", multiple=True, metavar="GLOB", help="Only of these; repeatable. Else of all.")
@json_option
def add(target: Target, url: str, events: tuple[str, ...], resources: tuple[str, ...], as_json: bool) -> None:
    """Have what happens from now on sent to an address, and print the secret that signs it."""
    kinds = [kind.strip() for text in events for kind in text.split(",") if kind.strip()]
    private = target.settings().memory.webhooks.allow_private
    made = target.run(webhook_records.add(target.keys(), url, kinds, resources, allow_private=private))
    target.attempt.add(of=made.id, resource=only(made.resources))
    target.tell()  # before the secret is shown
    if as_json:
        print_json({name: getattr(made, name) for name in ("id", "url", "events", "resources", "secret")})
        return
    click.echo(made.secret)
    note(f"webhook {made.id}; this is the only time that its secret is shown: receivers verify deliveries with it")


@command("om webhooks list", "om webhooks list --json | jq '.[] | select(.dead > 0)'", name="list", of=webhooks)
@json_option
def list_(target: Target, as_json: bool) -> None:
    """List webhooks, and how many deliveries wait, were made, failed, were given up, or dropped by a full queue."""
    keys = target.keys()
    found = target.run(webhook_records.states(keys, target.run(webhook_records.every(keys))))
    if as_json:
        print_json(found)
        return
    print_table(("id", "url", "takes", "deliveries", "state"), map(_row, found))


def _row(state: WebhookState) -> tuple[str, ...]:
    takes = f"{', '.join(state.events) or 'all'} of {', '.join(state.resources)}"
    counts = f"{state.delivered:,} made, {state.waiting:,} wait, {state.dead:,} dead, {state.dropped:,} dropped"
    return state.id, state.url, takes, counts, state.disabled or "active"


@command(f"om webhooks remove {_ID}", of=webhooks, audited="webhook_removed")
@_webhook_argument
@json_option
def remove(target: Target, webhook: str, as_json: bool) -> None:
    """End a webhook, with all that waits for it."""
    found = _found(target, webhook)
    if not target.run(webhook_records.remove(target.keys(), found.id)):
        raise _missing(webhook)
    print_outcome(Outcome.CLEARED, as_json)


@command(f"om webhooks test {_ID}", of=webhooks, audited="webhook_tried")
@_webhook_argument
@wait_option("How long to wait for a worker's attempt.")
@json_option
@click.pass_context
def test(ctx: click.Context, target: Target, webhook: str, wait: float, as_json: bool) -> None:
    """Have a worker send something that is no event: `delivered`, `failed` and why (exit 1), `busy` when none has yet."""
    found = _found(target, webhook)
    if found.disabled:
        raise InvalidInputError(f"{webhook} is disabled, nothing is sent: om webhooks enable {webhook}")
    sent = target.run(webhook_queue.try_out(target.keys(), found))
    stands = target.run(webhook_queue.await_attempt(target.keys(), webhook, sent.id, wait))
    tried = webhook_queue.judged(stands)
    print_outcome(tried.outcome, as_json, delivery=sent.id, error=tried.error)
    if tried.error and not as_json:
        note(tried.error)
    if tried.outcome == "failed":
        ctx.exit(_NOT_SENT)


@command(f"om webhooks dead {_ID}", of=webhooks)
@_webhook_argument
@json_option
def dead(target: Target, webhook: str, as_json: bool) -> None:
    """List what was given up within the last week, the newest 100, each with its last error."""
    _found(target, webhook)
    found = target.run(webhook_queue.dead(target.keys(), webhook))
    if as_json:
        print_json(found)
        return
    rows = [(each.id, each.kind, as_time(each.died_at), each.attempts, each.error) for each in found]
    print_table(("delivery", "kind", "given up", "attempts", "last error"), rows)


@command(f"om webhooks retry {_ID}", of=webhooks, audited="webhook_retried")
@_webhook_argument
@click.argument("delivery", required=False)
@json_option
def retry(target: Target, webhook: str, delivery: str | None, as_json: bool) -> None:
    """Send what was given up once more: all of it, or one DELIVERY."""
    _found(target, webhook)
    again = target.run(webhook_queue.retry(target.keys(), webhook, delivery))
    if delivery and not again:
        raise NotFoundError(f"no delivery {delivery[:80]!r} was given up: om webhooks dead {webhook} lists them")
    if as_json:
        print_json({"queued": again})
    else:
        click.echo(f"{amount(again, 'delivery waits', 'deliveries wait')} to be sent")


@command(f"om webhooks enable {_ID}", of=webhooks, audited="webhook_enabled")
@_webhook_argument
@json_option
def enable(target: Target, webhook: str, as_json: bool) -> None:
    """Have events sent again to a webhook whose receiver had answered 410 Gone, what waited meanwhile first."""
    found = _found(target, webhook)
    done = target.run(webhook_records.disable(target.keys(), found, "")) if found.disabled else True
    print_outcome(Outcome.REST if done else Outcome.SUPERSEDED, as_json)


def _found(target: Target, webhook: str) -> Webhook:
    found = target.run(webhook_records.get(target.keys(), webhook))
    if found is None:
        raise _missing(webhook)
    target.attempt.add(resource=only(found.resources))
    return found


def _missing(webhook: str) -> NotFoundError:
    return NotFoundError(f"there is no webhook {webhook} (any more): om webhooks list names them")
