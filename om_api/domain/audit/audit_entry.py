"""An entry of the audit trail: who did what to whom, and whether that was permitted. No word of a message, no secret."""

import json
from collections.abc import Collection
from typing import Literal

import msgspec

from om_api.domain.api_keys import EVERY, ApiKey
from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned

DID: dict[str, str] = {  # every verb of an entry, and what it says
    "read": "a page showed it",
    "forced": "the workers were asked to observe or to reflect now",
    "paused": "whatever calls a model was stopped for it",
    "resumed": "it goes on after a pause",
    "migrated": "its memory was moved to another scope",
    "restored": "an earlier generation was made the next one",
    "forgot": "an observation and the messages behind it were removed",
    "line_added": "a line was noted by hand",
    "line_corrected": "a line was made to say something else, or taken out",
    "line_undone": "what was done to a line by hand was taken back",
    "working_memory_updated": "fields of a working memory were changed",
    "working_memory_undone": "a former version of a working memory was brought back",
    "pinned": "every reflection must keep a line",
    "unpinned": "reflections may condense a line again",
    "approved": "a reflection that waited for a review counts",
    "sent_back": "a reflection that waited for a review is thought again",
    "thread_changed": "a thread was given a title, metadata, or archived",
    "thread_aliased": "a name was made to stand for a thread, and what it held was made that thread's",
    "thread_unaliased": "a name stands for a thread no more",
    "thread_copied": "a thread was copied into a new one",
    "erased": "a fact was removed wherever it stood",
    "redacted": "what a memory held already was redacted",
    "cleared": "a whole memory, or a thread of it, was removed",
    "retried": "what was rejected was given another chance",
    "dropped": "an entry of the quarantine was removed",
    "exported": "a whole memory was read into a file",
    "imported": "a memory was made of a file",
    "index_repaired": "recall's index was made anew where it was broken",
    "archive_upgraded": "the archive's tables were brought to this version",
    "archive_copied": "the archive was copied into another one",
    "archive_discarded": "what the archive kept of somebody whom Redis does not know was removed",
    "repartitioned": "the indexes of the store were parted anew",
    "settings_changed": "a setting was changed",
    "key_created": "a key of the HTTP API was made",
    "key_rotated": "a key was given another token",
    "key_revoked": "a key was ended",
    "user_set": "a user of Redis was made, or changed",
    "user_revoked": "a user of Redis was ended",
    "webhook_added": "events are sent to one more address",
    "webhook_removed": "a webhook was ended",
    "webhook_tried": "a delivery was made to try a webhook out",
    "webhook_retried": "what a webhook was not sent is sent once more",
    "webhook_enabled": "events are sent to a webhook again",
    "model_tried": "a worker was asked to make a test call of a model",
    "signed_in": "somebody opened the pages with a key",
    "signed_out": "somebody left the pages",
    "refused": "a key asked for what it may not, and what is no verb of these: `of` names it",
}
CHANGES = tuple(verb for verb in DID if verb not in {"read", "exported", "signed_in", "signed_out", "refused"})
Via = Literal["http", "mcp", "page", "cli"]
Ending = Literal["done", "refused", "failed"]
LOOPBACK = "loopback"  # who asks where nobody needs a key
LONGEST = 200  # characters of a name
_NAMES = ("who", "label", "resource", "thread", "of", "ended")


@learned
class AuditEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that somebody did, or was refused: see docs/security.md. What it has nothing of is left out.

    `id` orders entries, `at` is the server's time in Unix ms. `who` is a key's id with its `label`, `user@host` of a command
    line, or `loopback`. `of` names what it was done to, such as an observation, a generation, a key. `ended` is the word that it
    ended with, where it has one; `status` that of HTTP. `failed`: it was tried, and nothing changed, or nobody knows what did.
    """

    did: str
    via: Via
    who: str
    outcome: Ending = "done"
    id: str = ""
    at: int = 0
    label: str = ""
    resource: str = ""
    thread: str = ""
    of: str = ""
    ended: str = ""
    status: int = 0

    def checked(self) -> "AuditEntry":
        """The same, whose names are short and can break no line; raises InvalidInputError for a verb that there is not."""
        if self.did not in DID:
            raise InvalidInputError(f"there is no verb {self.did[:80]!r}: use any of {', '.join(DID)}")
        return msgspec.structs.replace(self, **{name: plain(getattr(self, name))[:LONGEST] for name in _NAMES})


def plain(text: str) -> str:
    """A text without a character that could steer a terminal, end a line or turn it around: each is spelled out."""
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text[: 4 * LONGEST])


def who_of(key: ApiKey) -> tuple[str, str]:
    """By which name, and which label, a key is told of."""
    return key.id or LOOPBACK, key.label


def only(resources: Collection[str]) -> str:
    """The one resource that something is about; "" where it is about several, or all: whoever is bound to one is not told."""
    (name, *others) = resources or ("",)
    return "" if others or name == EVERY else name
