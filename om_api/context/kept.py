"""What is kept beside the notes: the working memory, and what extractors found, as a context shows them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from om_api.context.signature import Signer
from om_api.context.view import View
from om_api.domain.kept.extractors import WORKING, Extracted, Whose, as_words, extracted_with
from om_api.domain.kept.working_memory import values_of, written
from om_api.domain.snapshot import Snapshot
from om_api.domain.tags import escape
from om_api.domain.values import ExtractedValue, Generation, KeptFields, Scope, Stamped, Stored


class KeptText(NamedTuple):
    """What stands in the stable part, and what has changed since it did, for the closing block; "" where there is nothing."""

    stable: str
    since: str


NOTHING_KEPT = KeptText("", "")


class KeptParts(NamedTuple):
    """What of a snapshot it is made of; `activated_at` is when the memory was activated last (server ms)."""

    scope: Scope
    thread: str
    generation: Generation | None
    observations: Sequence[Stored]
    working: Mapping[str, KeptFields]
    activated_at: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> "KeptParts":
        """Those of a snapshot."""
        found = snapshot.generation, snapshot.observations, snapshot.working
        return cls(snapshot.scope, snapshot.thread.id, *found, snapshot.record.observed_at)

    def extracted(self) -> Extracted:
        """What extractors found: beside the generation and the notes in force."""
        before = self.generation.extracted if self.generation else {}
        return extracted_with(before, (stored.observation for stored in self.observations))

    def place(self, of: Whose) -> str:
        """Under which name a working memory is kept that is a thread's, or the resource's."""
        return self.thread if of == "thread" else ""


def proposed_in(extracted: Extracted, thread: str) -> Stamped:
    """What an Observer understood that the fields say."""
    found = extracted.get(thread, {}).get(WORKING)
    return found.value if found else {}


def kept_text(parts: KeptParts, view: View, signer: Signer) -> KeptText:
    """What is shown of both. Nothing in the stable part changes between two activations of the memory."""
    if view.working is None and not view.extracted:
        return NOTHING_KEPT
    extracted = parts.extracted()
    stable, since = _working(parts, view, extracted)
    found = {**extracted.get("", {}), **extracted.get(parts.thread, {})}
    sections = [signer.framed("working-memory", escape(stable))] if stable else []
    sections += [_section(slug, found[slug], signer) for slug in view.extracted if slug in found and found[slug].value]
    return KeptText("\n".join(sections), f"<working-memory>\n{escape(since)}\n</working-memory>" if since else "")


def _working(parts: KeptParts, view: View, extracted: Extracted) -> tuple[str, str]:
    """How the working memory stood at the last activation, and the fields that say something else since.

    Of a memory of one thread that of the whole resource is shown as a whole at the end: other threads change it at any time.
    """
    form = view.working
    if form is None:
        return "", ""
    place = parts.place(form.of)
    held, proposed = parts.working.get(place, KeptFields()), proposed_in(extracted, place)
    now = values_of(held.value, proposed)
    if form.of == "resource" and parts.scope.thread is not None:
        return "", form.text(now)
    stood = values_of(held.stands(parts.activated_at), proposed)
    changed = [field for field in form.fields if now.get(field) != stood.get(field)]
    return form.text(stood), "\n".join(["Changed since:", *(_line(field, now) for field in changed)] if changed else [])


def _line(field: str, values: Mapping[str, Any]) -> str:
    return f"- {field}: {written(values[field])}" if field in values else f"- {field}: (empty now)"


def _section(slug: str, found: ExtractedValue, signer: Signer) -> str:
    return signer.framed("extracted", f"{slug}:\n{escape(as_text(found.value))}")


def as_text(value: Any) -> str:
    """A value for readers: an item or a field a line."""
    if isinstance(value, dict):
        return "\n".join(f"- {field}: {_inline(each)}" for field, each in value.items())
    if isinstance(value, list):
        return "\n".join(f"- {_inline(each)}" for each in value)
    return _inline(value)


def _inline(value: Any) -> str:
    return " ".join(as_words(value).split())
