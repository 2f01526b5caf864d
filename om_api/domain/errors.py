"""The tree of errors. Every message says what, where, what is permitted, and what to do next."""

from typing import Literal

# what kind of failure ended a piece of work: a word for counters and events, where no error's text may stand
Why = Literal["timeout", "unreachable", "busy", "refused", "unusable", "budget", "store", "hook", "other"]


class OMError(Exception):
    """The root: catch it to catch everything this project raises on purpose."""


class InvalidInputError(OMError, ValueError):
    """A message, an id or an argument that cannot be accepted; nothing was written."""


class QuotaReachedError(InvalidInputError):
    """A quota is used up; free a place, then repeat."""


class NotFoundError(InvalidInputError):
    """What was named is not there, such as a resource of which nothing is kept; nothing was written."""


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


class RateLimitedError(StoreError):
    """More was pushed than a resource, or whoever pushes to it, may push in a second; `stored` as for every StoreError.

    `retry_after`: seconds until the same call, with the same ids, is taken.
    """

    def __init__(self, message: str, *, retry_after: float, stored: bool | None = False) -> None:
        super().__init__(message, stored=stored)
        self.retry_after = retry_after


class NotReplicatedError(StoreError):
    """A push is kept on the primary, but too few replicas said in time that they hold it: a failover now may lose it.

    `stored` is None: repeat the call with the same ids, which adds nothing twice and waits again.
    """

    def __init__(self, message: str, *, stored: bool | None = None) -> None:
        super().__init__(message, stored=stored)


class ArchiveError(StoreError):
    """The archive did not do what was asked, or cannot be asked here; where Redis was changed before that, the text says so."""


class NotPermittedError(StoreError):
    """The store's ACL does not let this user do it; nothing was written, and asking again changes nothing."""


class ForeignDataError(StoreError):
    """A key of a memory holds a value of another type, which another program wrote there."""


class ModelError(OMError):
    """A model call failed.

    `retryable`: the same call may succeed later. `retry_after`: seconds to wait, when the vendor said so (a 429). `why`: its
    kind: no answer in time, nobody reached or a 5xx, limits or a breaker, the request refused, an answer that cannot be used.
    """

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after: float | None = None, why: Why = "other"
    ) -> None:
        super().__init__(message)
        self.why = why
        self.retryable = retryable
        self.retry_after = retry_after


class BudgetReachedError(ModelError):
    """A model was not called because a day's budget is used up: nothing was asked, so nothing failed and no attempt burns.

    `retry_after`: seconds until it is worth another look; the budget may have been raised by then. `instead`: the model that
    the budget lets step in, None where the work waits.
    """

    def __init__(self, message: str, *, retry_after: float, instead: str | None = None) -> None:
        super().__init__(message, retryable=True, retry_after=retry_after, why="budget")
        self.instead = instead


class HookError(OMError):
    """A hook failed whose `on_failure` is `stop`: what it belongs to was not done, nothing was lost, and it is tried again."""
