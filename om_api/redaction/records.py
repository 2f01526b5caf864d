"""What the store keeps, redacted where it is text: notes, entries of a quarantine, fields of hashes."""

import msgspec

from om_api.redaction.redactor import Redactions, Redactor

# of observations and generations: ids, and whose they are
_NAMES = frozenset(
    {"id", "thread_id", "message_ids", "observation_ids", "dropped_ids", "by", "model", "group", "shared_from"}
)
# of records, threads, chunks and working memories, by what stands before a colon: what is text or JSON of texts
_TEXTS = frozenset({"pins", "current_task", "suggested_response", "title", "metadata", "value", "shown", "past"})


def note(text: bytes, redactor: Redactor, told: Redactions) -> bytes:
    """An observation or a generation, as it is kept; its tokens stay what they were counted."""
    return redactor.record(text, _NAMES, told)


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
    kind, _, place = name.partition(":")
    former = kind not in _TEXTS and bool(place) and text[:1] == b"{"  # a former version of a working memory
    return redactor.json(text, told) if kind in _TEXTS or former else text
