"""`om keys`: who may ask the HTTP API for what."""

import re
from typing import Any, NamedTuple

import click

from om_api.cli.output import as_time, json_option, note, print_json, print_outcome, print_table
from om_api.cli.target import Target, command, examples
from om_api.domain.api_keys import ApiKey, Role
from om_api.domain.audit.audit_entry import only
from om_api.domain.errors import NotFoundError
from om_api.domain.naming.ids import as_id
from om_api.domain.push_limits import PushLimits
from om_api.domain.values import Outcome
from om_api.settings.sections.fields import format_duration, parse_duration
from om_api.store.driver.steps import Steps
from om_api.store.fleet import api_key_records, webhook_records
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

_key_argument = click.argument("key", metavar="KEY")
_ONCE = "this is the only time it is shown: send it as Authorization: Bearer …"


@click.group(
    epilog=examples("om keys create --resource harold --role writer", "om keys list", "om keys revoke 3f1c20a9be77")
)
def keys() -> None:
    """Make, list, revoke and rotate the keys of the HTTP API.

    A reader may read, a writer may also add messages and ask the workers, an operator may do everything: each for the
    resources it is bound to. What is kept of a key is a hash.
    """


def _seconds(_: click.Context, __: click.Parameter, value: str | None) -> float:
    try:
        return parse_duration(value) if value else 0
    except ValueError:
        raise click.BadParameter(f"{value!r} is no duration such as 30s, 5m, 1h or 30d") from None


@command(
    "om keys create --resource harold --role writer --label 'shop assistant'",
    "om keys create --resource harold --resource albert --role reader --expires 30d --rate 60/m",
    "om keys create --resource '*' --role operator",
    of=keys,
    audited="key_created",
)
@click.option("--resource", "resources", multiple=True, required=True, help="Whose memory; repeatable. '*': every one.")
@click.option("--role", type=click.Choice([role.value for role in Role]), required=True, help="What it may do.")
@click.option("--label", default="", help="What you call it, in lists.")
@click.option("--expires", callback=_seconds, metavar="DURATION", help="After which it opens nothing; else it lasts.")
@click.option("--rate", default="", help="How often it may ask, such as 60/m; else as often as it likes.")
@click.option("--push-messages", type=float, default=0, help="Messages a second it may push to any one resource.")
@click.option("--push-bytes", type=float, default=0, help="Bytes of messages a second it may push to any one resource.")
@json_option
def create(
    target: Target,
    resources: tuple[str, ...],
    role: str,
    label: str,
    expires: float,
    rate: str,
    push_messages: float,
    push_bytes: float,
    as_json: bool,
) -> None:
    """Make a key and print its token.

    A rate is so many requests a second (s), minute (m), hour (h) or day (d), at all processes of the API together. What is
    pushed is limited on average: what comes at once may be more, and is owed by what comes next.
    """
    limits = PushLimits(push_messages, push_bytes)
    names = tuple(name if "*" in name else as_id(name) for name in resources)
    made = api_key_records.create(target.keys(), names, role, label=label, expires_s=expires, rate=rate, limits=limits)
    key, token = target.run(made)
    target.attempt.add(of=key.id, resource=only(key.resources))
    target.tell()  # before the token is shown
    if as_json:
        print_json({**_row(key), "token": str(token)})
        return
    click.echo(token)
    note(f"key {key.id}, {key.role} of {', '.join(key.resources)}; {_ONCE}")


def _row(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "label": key.label,
        "role": key.role,
        "resources": list(key.resources),
        "created": as_time(key.created_at),
        "expires": as_time(key.expires_at),
        "rate": key.rate or None,
        "push_messages": key.push_messages or None,
        "push_bytes": key.push_bytes or None,
        "rotated": as_time(key.rotated_at),
        "previous_until": as_time(key.previous_until),
    }


class _Looked(NamedTuple):
    """The keys, when each was used last, and what time it is at the server."""

    keys: list[ApiKey]
    uses: dict[str, int]
    now_ms: int


def _look(keys: Keys) -> Steps[_Looked]:
    found = yield from api_key_records.every(keys)
    return _Looked(found, (yield from api_key_records.uses(keys)), (yield from due.server_ms()))


@command("om keys list", "om keys list --json | jq '.[] | select(.role == \"operator\")'", name="list", of=keys)
@json_option
def list_(target: Target, as_json: bool) -> None:
    """List the keys: what they may do and for whom, until when, and when they were last used, about.

    No token is kept that could be shown.
    """
    found = target.run(_look(target.keys()))
    if as_json:
        print_json([{**_row(key), "last_used": as_time(found.uses.get(key.id, 0))} for key in found.keys])
        return
    rows = [_cells(key, found.uses.get(key.id, 0), found.now_ms) for key in found.keys]
    print_table(("id", "label", "role", "resources", "expires", "last used", "rate"), rows)


def _cells(key: ApiKey, used: int, now_ms: int) -> tuple[object, ...]:
    expires = "expired" if key.has_expired(now_ms) else key.expires_at and f"in {_about(key.expires_at - now_ms)}"
    last = used and f"{_about(now_ms - used)} ago"
    return key.id, key.label, key.role, ", ".join(key.resources), expires or "-", last or "-", key.rate


def _about(ms: int) -> str:
    """A time in its largest unit: 29d, 5h."""
    return re.split(r"(?<=[dhms])", format_duration(max(1, ms // 1_000)))[0]


@command("om keys revoke 3f1c20a9be77", of=keys, audited="key_revoked")
@_key_argument
@json_option
def revoke(target: Target, key: str, as_json: bool) -> Outcome:
    """End a key: from the next request on it opens nothing. The webhooks that were made with it stay, and are listed."""
    done = target.run(api_key_records.revoke(target.keys(), key))
    if done is Outcome.SUPERSEDED:
        raise NotFoundError(f"there is no key {key[:40]} (any more): om keys list names them")
    made = [webhook.id for webhook in target.run(webhook_records.every(target.keys())) if webhook.by == key]
    print_outcome(done, as_json, id=key, webhooks=made)
    for webhook in made:
        note(
            f"webhook {webhook} was made with this key and still sends events; to end it: om webhooks remove {webhook}"
        )
    return done


@command("om keys rotate 3f1c20a9be77", "om keys rotate 3f1c20a9be77 --grace 1h", of=keys, audited="key_rotated")
@_key_argument
@click.option("--grace", default="0s", show_default=True, callback=_seconds, help="How long the old token is accepted.")
@json_option
def rotate(target: Target, key: str, grace: float, as_json: bool) -> None:
    """Give a key another token, and print it; the old one ends at once, or after --grace."""
    changed, token = target.run(api_key_records.rotate(target.keys(), key, grace))
    target.attempt.add(resource=only(changed.resources))
    target.tell()  # before the token is shown
    if as_json:
        print_json({**_row(changed), "token": str(token)})
        return
    click.echo(token)
    note(_ONCE)
