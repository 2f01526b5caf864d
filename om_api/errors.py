"""The tree of errors. Every message says what, where, what is permitted, and what to do next."""

from __future__ import annotations


class OMError(Exception):
    """The root: catch it to catch everything this project raises on purpose."""


class InvalidInputError(OMError, ValueError):
    """A message, an id or an argument that cannot be accepted; nothing was written."""


class SettingsError(OMError, ValueError):
    """A file or an environment variable that cannot be in force; says file, key and permitted range."""


class StoreError(OMError):
    """Redis did not do what was asked.

    `stored` says what became of the write: True it is kept, False it is not, None nobody can know (the reply was lost), or
    a part of it is kept: repeat the call with the same ids, which changes nothing of what is.
    """

    def __init__(self, message: str, *, stored: bool | None = False) -> None:
        super().__init__(message)
        self.stored = stored


class ModelError(OMError):
    """A model call failed.

    `retryable`: the same call may succeed later. `retry_after`: seconds to wait, when the vendor said so (a 429).
    """

    def __init__(self, message: str, *, retryable: bool = True, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
