"""What the store keeps, redacted where it is text: notes, entries of a quarantine, fields of hashes."""

import msgspec

from om_api.domain.histories.retraction import QUOTED
from om_api.redaction.redactor import Redactions, Redactor

# of observations and generations: ids, and whose they are
_NAMES = frozenset(
    {"id", "thread_id", "message_ids", "observation_ids", "dropped_ids", "by", "model", "group", "shared_from"}
)
# of records, threads, chunks and working memories, by what stands before a colon: what is text or JSON of texts
_TEXTS = frozenset({"pins", "current_task", "suggested_response", "title", "metadata", "value", "shown", "past"})


def note(text: bytes, redactor: Redactor, told: Redactions) -> bytes:
    """An observation or a generation, as it is kept; its tokens stay what they were counted.

    The lines of a shared note go on naming its owner, which may look like an e-mail address.
    """
    try:
        fields = msgspec.json.decode(text, type=dict)
        begins, said = f"From {fields['by']}: ", fields["text"].split("\n")
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, KeyError, AttributeError):
        return redactor.record(text, _NAMES, told)
    if fields.get("origin") != "shared":
        return redactor.record(text, _NAMES, told)
    lines = [line.partition(begins) for line in said]
    cleaned = "\n".join(redactor.text(date, told) + owner + redactor.text(rest, told) for date, owner, rest in lines)
    if cleaned != fields["text"]:
        text = msgspec.json.encode({**fields, "text": cleaned})
    return redactor.record(text, _NAMES | {"text"}, told)


def entry(text: bytes, redactor: Redactor, told: Redactions) -> bytes:
    """An entry of a quarantine, with the message that it holds."""
    try:
        said = msgspec.json.decode(text)
        member = said["member"].encode("utf-8", "surrogateescape")
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        return redactor.json(text, told)
    cleaned = redactor.member(member, told)
    return text if cleaned == member else msgspec.json.encode({**said, "member": cleaned.decode("utf-8", "replace")})


def field(name: str, text: bytes, redactor: Redactor, told: Redactions) -> bytes:
    """A field of a hash: its observation, its texts; ids, times and counts are what they were."""
    if name == "observation":
        return note(text, redactor, told)
    if name in QUOTED:
        lines = (line.partition(" ") for line in text.decode("utf-8", "replace").split("\n"))
        return "\n".join(mark + blank + redactor.text(quote, told) for mark, blank, quote in lines).encode()
    kind, _, place = name.partition(":")
    former = kind not in _TEXTS and bool(place) and text[:1] == b"{"  # a former version of a working memory
    return redactor.json(text, told) if kind in _TEXTS or former else text
