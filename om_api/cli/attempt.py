"""What a command of `om` is about to do, as the audit trail tells of it."""

import getpass
import os
import socket
from collections.abc import Mapping
from typing import Any

import msgspec

from om_api.domain.audit.audit_entry import AuditEntry, Ending
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Outcome

_NAMED = (
    "observation",
    "generation",
    "entry",
    "key",
    "webhook",
    "to",
    "count",
)  # arguments that say what it is done to


class DeclinedError(InvalidInputError):
    """Nobody said yes, so nothing was done, and there is nothing to tell."""


class CommandAttempt:
    """One call of a command: its verb, and what its arguments name; a command adds what these do not say."""

    def __init__(self, did: str, given: Mapping[str, Any]) -> None:
        named = (given.get(name) for name in _NAMED)
        of = next((str(value) for value in named if value is not None), "")
        self._said = {
            "did": did,
            "resource": given.get("resource") or "",
            "thread": given.get("thread") or "",
            "of": of,
        }

    def add(self, **said: str) -> None:
        """Say `resource`, `thread`, `of`, or another verb as `did`; "": it only looked."""
        self._said |= said

    def entry(self, outcome: Ending, ended: str = "") -> AuditEntry | None:
        """What is told of it; None where it only looked."""
        if not self._said["did"]:
            return None
        told = AuditEntry(did="", via="cli", who=user(), outcome=outcome, ended=ended)
        return msgspec.structs.replace(told, **self._said)


def changed_nothing(error: BaseException) -> bool:
    """Whether a command ended before anything was done, or with a store that did not take it, nor would an entry."""
    return isinstance(error, DeclinedError) or (isinstance(error, StoreError) and error.stored is False)


def word_of(result: object) -> str:
    """The word that a command ended with; "" where it returned none."""
    return str(result) if isinstance(result, Outcome) else ""


def user() -> str:
    """Who types here: user@host."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        name = str(os.getuid()) if hasattr(os, "getuid") else ""
    return f"{name}@{socket.gethostname()}"
