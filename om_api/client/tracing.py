"""What a client did as its spans say it: pushes, contexts and recalls, and what they go on from. No word of what was said."""

from collections.abc import Sequence

from om_api.client.receipts import Receipt
from om_api.client.syncing import Synced
from om_api.context import Context
from om_api.domain.wire import EncodedMessage
from om_api.recall.recalled import Recalled
from om_api.telemetry import spans
from om_api.telemetry.spans import OurSpan


def note_pushed(ready: Sequence[EncodedMessage]) -> None:
    """Say of the push that is being done what it adds, and whose that is where all of it is one's."""
    resources, threads = ({getattr(each.message, name) for each in ready} for name in ("resource_id", "thread_id"))
    spans.current().note(
        resource=_only(resources),
        thread=_only(threads),
        messages=len(ready),
        tokens=sum(each.message.tokens or 0 for each in ready),
    )


def note_receipt(span: OurSpan, receipt: Receipt) -> None:
    """Say what became of a push."""
    span.note(added=receipt.added, duplicates=len(receipt.duplicates))


def note_synced(span: OurSpan, found: Synced) -> None:
    """Say what became of a history."""
    span.note(messages=len(found.ids), added=found.added, duplicates=found.known)


def note_context(span: OurSpan, made: Context) -> None:
    """Say what a context shows, which goes on from those that made it."""
    reflection = made.reflection
    shown = [one.traceparent or "" for one in made.observations]
    span.link([*shown, (reflection and reflection.traceparent) or ""])
    span.note(
        tokens=made.tokens,
        observations=len(made.observations),
        generation=reflection.n if reflection else 0,
        unavailable=made.unavailable or None,
    )


def note_recalled(span: OurSpan, found: Recalled) -> None:
    """Say how much was found."""
    span.note(hits=len(found.hits))


def _only(names: set[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None
