"""Recall as a tool of the Actor: its schema as providers take it, what a call asks, and the answer as text."""

from typing import Any
from zoneinfo import ZoneInfo

from om_api.context.parts import plain
from om_api.context.tool_formats import object_of, tool_of
from om_api.context.view import local_time
from om_api.domain.errors import InvalidInputError
from om_api.domain.folding import folded
from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.tokens import estimate
from om_api.domain.tool_calls import RECALL
from om_api.language.calendar import zone_of
from om_api.recall.marking import excerpt
from om_api.recall.query import Query
from om_api.recall.recalled import Recalled, RecalledHit

NAME = RECALL
ANSWER_TOKENS = 1_500
UNREACHED = "the memory could not be reached just now; what it holds is not known: ask again later"
_CHARACTERS, _LEAST = 4, 200  # of a token, about; of the shortest part of a message
_BESIDE = 4  # times shorter is a turn beside it
_LONGEST_QUERY = 200
_WHAT = (
    "Look up what was said earlier in any conversation you remember, word for word, by the words it was said with. Use it for a "
    "name, number, date, decision, answer or result that your notes and the messages in view do not hold."
)
_QUERY = (
    "A few distinctive words that were probably used: names, things, numbers. "
    '"an exact phrase" goes in quotes, -word leaves out.'
)
_DAY = "as YYYY-MM-DD"
_PROPERTIES: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "description": _QUERY},
    "thread_id": {"type": "string", "description": "One conversation alone; leave it out to look in all."},
    "role": {
        "type": "string",
        "enum": ["user", "assistant", "tool"],
        "description": "Who said it, if that is certain.",
    },
    "after": {"type": "string", "description": f"Only what was said on this day or later, {_DAY}."},
    "before": {"type": "string", "description": f"Only what was said before this day, {_DAY}."},
    "group": {
        "type": "string",
        "description": "Read a group of older notes whole, by the name in brackets in its heading; of a month (2026-03) "
        "its groups are listed. The query counts for nothing then.",
    },
    "offset": {"type": "integer", "description": "Go on where an earlier answer said that there is more."},
}
_SCHEMA = {"type": "object", "properties": _PROPERTIES, "required": ["query"]}
_TAKEN = frozenset(_PROPERTIES) - {"group"}


def recall_tool(format: str = "openai") -> dict[str, Any]:  # noqa: A002 - as the providers call it
    """The tool as a provider's list of tools takes it. Raises InvalidInputError for a provider that is none of ours."""
    return tool_of(NAME, _WHAT, _SCHEMA, format)


def arguments_of(call: Any) -> dict[str, Any]:
    """What a call asks, as the client's `recall` takes it; `call` is a provider's, a dict or JSON of its arguments.

    Raises InvalidInputError where that cannot be asked.
    """
    given = object_of(call)
    known = {key: value for key, value in given.items() if key in _TAKEN and value not in (None, "")}
    if not isinstance(known.get("query"), str):
        raise InvalidInputError("a call needs a query: a few words that were probably used")
    role, offset = known.pop("role", None), known.pop("offset", 0)
    if isinstance(offset, float) and offset.is_integer():
        offset = int(offset)
    return {**known, "offset": offset, "roles": role or ()}


PARTIAL = (
    "The archive could not be looked through just now: what was said long ago may be missing here. Ask again later."
)


def refused(reason: str) -> str:
    """The answer to a call that cannot be carried out."""
    return told_whole(f"Nothing was looked up: {reason}")


def answer_of(
    found: Recalled,
    timezone: str,
    max_tokens: int = ANSWER_TOKENS,
    count: Count = estimate,
    offset: int = 0,
    resource: str = "",
) -> str:
    """What was found, as the text of a tool's result: each hit with its thread, its turns with dates and who spoke.

    Of long turns the part is shown that has the words. `offset` is where the answer begins; the first hit is always told.
    What was found in another memory than that of the `resource` says in whose.
    """
    missing = [PARTIAL] if found.partial else []
    if not found.hits:
        return told_whole(
            " ".join([f"Nothing was found for {found.query[:_LONGEST_QUERY]!r}: {found.reason}", *missing])
        )
    longest, shown, zone = max(_CHARACTERS * max_tokens, _LEAST), len(found.hits), zone_of(timezone)
    told = [_ToldHit(hit, zone, longest, resource) for hit in found.hits]
    while True:
        following = found.next if shown == len(told) else offset + shown
        more = [f"There is more: ask again with offset {following}."] if following is not None else []
        text = "\n\n".join([*(hit.text(longest) for hit in told[:shown]), *more, *missing])
        if (cost := count(text)) <= max_tokens or (longest == _LEAST and shown == 1):
            return text
        shown -= longest == _LEAST
        longest = max(min(longest * max_tokens // cost, longest // 2), _LEAST)


def told_whole(text: str) -> str:
    """A text with what a model wrote in it, of which half a character (a lone surrogate) is no UTF-8."""
    return escape(text.encode("utf-8", "replace").decode())


class _ToldHit:
    """A hit as it is told, as long as there is room for."""

    def __init__(self, hit: RecalledHit, zone: ZoneInfo, longest: int, resource: str) -> None:
        self._whose = f" of {hit.resource_id}" if resource and hit.resource_id not in {"", resource} else ""
        self._hit, self._zone, self._asked = hit, zone, Query(words=hit.matched)
        turns = [*hit.before, *([hit.message] if hit.message else ()), *hit.after]
        self._turns = [(turn, self._part(turn, plain(turn), longest)) for turn in turns]

    def text(self, longest: int) -> str:
        """Its thread and what covers it, then its turns, of which the found one has at most so many characters."""
        hit = self._hit
        if hit.message is None:
            said = escape(excerpt(hit.text, self._asked, longest))
            return f"Thread {hit.thread_id}, in your notes as {hit.covered_by or f'{hit.kind} {hit.id}'}:\n{said}"
        covers = f", in your notes as {hit.covered_by}" if hit.covered_by else ""
        covers += ", retracted from its conversation" if hit.id in hit.retracted else ""
        turns = [self._turn(turn, self._part(turn, said, longest)) for turn, said in self._turns]
        return "\n".join([f"Thread {hit.thread_id}{self._whose}, message {hit.id}{covers}:", *turns])

    def _part(self, turn: Message, said: str, longest: int) -> str:
        return excerpt(said, self._asked, longest if turn is self._hit.message else longest // _BESIDE)

    def _turn(self, turn: Message, said: str) -> str:
        at, mark = local_time(turn.at, self._zone), "> " if turn is self._hit.message else "  "
        return escape(f"{mark}[{at:%a %Y-%m-%d %H:%M}] {turn.role}: {folded(said)}")
