"""What is archived: values that need no database."""

from typing import Literal, NamedTuple

from om_api.domain.errors import ArchiveError

Kind = Literal["messages", "observations", "generation"]


class Entry(NamedTuple):
    """One thing that left Redis: the messages behind an observation, replaced observations, or a generation.

    `name` is the tail of its key: `source:c1`, `reflected:3`, `reflected:3:t1`; of a generation `reflections|4`,
    `reflections:t1|4`. `thread` is "" where it is of all threads. `at`, when it was made, and `expires_at` are Unix ms.
    `members` are those of the sorted set with their scores, `segment` is recall's index of messages.
    """

    resource: str
    name: str
    kind: Kind
    thread: str
    at: int
    expires_at: int
    members: tuple[tuple[bytes, float], ...]
    segment: bytes = b""
    revision: int = 0  # set by the archive


class NotArchivableError(ArchiveError):
    """A thing that no archive can take as it is; it stays in Redis."""


class Head(NamedTuple):
    """Messages without their bodies: how many, how many terms they have, in which languages; times are Unix ms."""

    name: str
    thread: str
    size: int
    length: int
    languages: tuple[str, ...]
    first_at: int
    expires_at: int
    revision: int


class Figures(NamedTuple):
    """How much is archived; `bytes` are of the database, 0 where nobody knows."""

    entries: int
    messages: int
    resources: int
    bytes: int
