"""What recall answers: hits in their surroundings, what was left out, and why nothing was found."""

from typing import Literal

import msgspec

from om_api.domain.messages import Message

Kind = Literal["message", "observation", "generation"]
HITS = 10  # of an answer, where nobody says how many; of one of the Actor's tool; that a context looks at
KINDS: tuple[Kind, ...] = ("message", "observation", "generation")


class RecalledHit(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was found.

    `message` is there for a message, with `before` and `after` it the turns of its thread, oldest first, never a call without
    its result. `id` is a message's, an observation's, or the number of a generation; `text` all that it says; `at` its time
    (Unix ms). `matched` are the words of the query that it has, as the query says them, `weights` what each of them is worth,
    the rarer the more; `score` orders hits of one answer, `certainty` (0 to 1) tells a find from chance. `covered_by` says what
    stands for a message in a context: `observation <id>`, `generation <n>`, or "" while it is read as it was said; of what was
    set aside `group <name>`. `resource_id` is whose memory it was found in. `retracted` are the ids of those of these messages
    that their conversation no longer has.
    """

    kind: Kind
    id: str
    thread_id: str
    at: int
    text: str
    role: str = ""
    score: float = 0.0
    certainty: float = 0.0
    matched: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    covered_by: str = ""
    message: Message | None = None
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    resource_id: str = ""
    retracted: tuple[str, ...] = ()


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one query: hits, the best first.

    `left_out` says of memories that were to be looked through too why one was not.

    `next` is the `offset` to ask on with, None when nothing was left out. `reason` says why there are no hits and what to do,
    `notes` what of the query was not taken as it stands. `partial` says why the archive was not looked through, "" if it was, or
    if there is none.
    """

    query: str
    hits: tuple[RecalledHit, ...] = ()
    next: int | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    partial: str = ""
    left_out: dict[str, str] = {}


class Browsed(msgspec.Struct, frozen=True, kw_only=True):
    """A message in its thread: the turns before it, itself, and those after, oldest first; None where nothing is kept of it.

    `earlier` and `later` say whether the thread goes on beyond them: browse on from the first or the last message. `partial` says
    why the archive was not looked through, "" if it was, or if there is none. `retracted` are the ids of those of these messages
    that their conversation no longer has.
    """

    message: Message | None
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    earlier: bool = False
    later: bool = False
    partial: str = ""
    retracted: tuple[str, ...] = ()
