"""How a block of ours is known again when an agent stores what it read: by a code that only its memory can have made."""

import hmac
from typing import NamedTuple

from om_api.domain.values import Scope

_DIGITS = 12  # 40 bits; three digits are one token, so that every code costs four


class Signer(NamedTuple):
    """Signs blocks of one memory with its secret `key`; "" signs none. `place` is what the blocks are for.

    A code tells that this very text was made by this memory. Looks tell nothing: whoever copies a tag has no code for
    other words, and whoever has a code has it for words that the memory holds.
    """

    key: str = ""
    place: str = ""

    @classmethod
    def of_memory(cls, key: str, scope: Scope) -> "Signer":
        """For what all threads of a scope are shown: observations and reflections."""
        return cls(key, scope.thread or "")

    @classmethod
    def of_thread(cls, key: str, thread: str) -> "Signer":
        """For what one thread is shown: the last block."""
        return cls(key, f"{thread} now")

    def framed(self, tag: str, body: str, about: str = "") -> str:
        """A block of ours: the body between its tags, the code in the first of them, and an attribute that is signed too."""
        code = f' id="{self._code(tag + about, body)}"' if self.key else ""
        return f"<{tag}{code}{about}>\n{body}\n</{tag}>"

    def made(self, tag: str, code: str, body: str) -> bool:
        """Whether a code is the one of this text; `tag` with the attribute behind the code."""
        return bool(self.key) and hmac.compare_digest(_bytes(self._code(tag, body)), _bytes(code))

    def _code(self, tag: str, body: str) -> str:
        said = _bytes(f"{self.place}\n{tag}\n{body}")
        number = int.from_bytes(hmac.digest(self.key.encode(), said, "sha256")[:8])
        return f"{number % 10**_DIGITS:0{_DIGITS}}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
