"""One piece of a context: what it says, who says it, and whether it stays as it is."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from om_api.domain.folding import folded

Kind = Literal["preamble", "reflection", "observations", "continuation", "message", "volatile"]


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a context, escaped and ready to be read.

    `stable` blocks are byte-identical until the memory itself changes, which is what prompt caches live on. `tokens` is
    what the workers or the message's writer counted where they did, else a count of `text`.
    """

    kind: Kind
    role: str
    text: str
    stable: bool
    tokens: int

    @property
    def hash(self) -> str:
        """The first 16 hex digits of the text's SHA-256, made when asked for."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def plain(self) -> str:
        """The text as a transcript shows it: a message is preceded by its role, and its further lines stand behind a tab."""
        return f"{self.role}: {folded(self.text)}" if self.kind == "message" else self.text
