"""What a request may ask of recall: words, and what they are limited to; how many turns beside a message."""

from typing import Annotated, Literal, NamedTuple

from fastapi import Depends, Path, Query

from om_api.client.recall.recall_query import MOST_AROUND, MOST_BESIDE, MOST_HITS, MOST_OFFSET, MOST_TOKENS
from om_api.domain.requests.request_model import FirstFault
from om_api.domain.values import ID_PATTERN
from om_api.http.requests.parameters import Also, OfThread
from om_api.recall.recalled import Kind

Speaker = Literal["user", "assistant", "system", "tool"]
MessageId = Annotated[
    str, Path(pattern=f"^{ID_PATTERN.pattern}$", description="one message, by its id", examples=["m-1"])
]
Moment = Annotated[str | None, Query(max_length=100, description="a date, ISO 8601 or Unix time")]
Turns = Annotated[int, Query(ge=0, le=MOST_BESIDE, description="turns on that side of the message")]
_WORDS = 'words that were said; `"a phrase"`, `-word`, `thread:`, `role:`, `before:`, `after:` and "in May" are known'


class RecallQuestion(NamedTuple):
    """A query as the client's `recall` takes it, and what limits it."""

    query: Annotated[str, Query(alias="q", description=_WORDS, examples=["passport"])]
    thread_id: OfThread = None
    roles: Annotated[
        tuple[Speaker, ...], Query(alias="role", description="only what these said; may be repeated"), FirstFault()
    ] = ()
    kinds: Annotated[
        tuple[Kind, ...], Query(alias="kind", description="what is searched; may be repeated"), FirstFault()
    ] = ("message",)
    after: Moment = None
    before: Moment = None
    limit: Annotated[int, Query(ge=1, le=MOST_HITS, description="most hits")] = 10
    around: Annotated[int, Query(ge=0, le=MOST_AROUND, description="turns before and after each message")] = 1
    max_tokens: Annotated[int | None, Query(ge=1, le=MOST_TOKENS, description="leave further hits out above this")] = (
        None
    )
    offset: Annotated[int, Query(ge=0, le=MOST_OFFSET, description="`next` of the answer before")] = 0
    also: Also = ()


AskedRecall = Annotated[RecallQuestion, Depends()]
