"""A group of notes that was set aside, or the headings of several, as the text of the Actor's tool."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from om_api.context.recall_tool import ANSWER_TOKENS, told_whole
from om_api.context.tool_formats import object_of
from om_api.domain.errors import InvalidInputError
from om_api.domain.message_tokens import Count
from om_api.domain.notes.groups import NoteGroup, check_group
from om_api.domain.tags import escape
from om_api.domain.tokens import estimate
from om_api.domain.values import Observation, shown

_ROOM, _MOST_LINES = 24, 10_000_000  # tokens of the line that says how to go on; of a group's lines
_CHARACTERS, _LEAST = 4, 20  # of a token, about; of a page in tokens


class GroupCall(NamedTuple):
    """A call that asks for a group by its name, or for those of a period, from which line on."""

    name: str
    offset: int


def group_call(call: Any) -> GroupCall | None:
    """What a call asks of groups; None for one that asks by words. Raises InvalidInputError for what is no name of a group."""
    given = object_of(call)
    name, offset = given.get("group"), given.get("offset") or 0
    if name in (None, ""):
        return None
    if isinstance(offset, bool) or not isinstance(offset, int | float) or not 0 <= offset <= _MOST_LINES:
        raise InvalidInputError(f"offset is {shown(offset)!r}: use the number that an earlier answer named")
    return GroupCall(check_group(name.strip("[] ") if isinstance(name, str) else name), int(offset))


def groups_text(
    asked: GroupCall,
    groups: Sequence[NoteGroup],
    missing: str,
    max_tokens: int = ANSWER_TOKENS,
    count: Count = estimate,
) -> str:
    """The headings of the groups of a period. `missing` says what could not be read, "" if nothing."""
    lines = [f"{each.heading} (thread {each.thread_id})" for each in groups]
    return _told(asked, f"Groups of {asked.name}:", lines, missing, max_tokens, count)


def notes_text(
    asked: GroupCall,
    notes: Sequence[Observation],
    missing: str,
    max_tokens: int = ANSWER_TOKENS,
    count: Count = estimate,
) -> str:
    """The notes of one group, likewise."""
    thread = f", thread {notes[0].thread_id}" if notes else ""
    lines = [line for own in notes for line in own.text.split("\n")]
    return _told(asked, f"Group {asked.name}{thread}:", lines, missing, max_tokens, count)


def _told(asked: GroupCall, head: str, lines: Sequence[str], missing: str, max_tokens: int, count: Count) -> str:
    """As many lines as have room, and at the end how to go on."""
    rest = [escape(line) for line in lines[asked.offset :]]
    if not rest:
        nothing = f"Nothing is kept under {asked.name} from line {asked.offset} on."
        return told_whole(" ".join(filter(None, [nothing, missing])))
    room = max(_LEAST, max_tokens - count(f"{head}\n{missing}") - _ROOM)
    page = _page(rest, room, count)
    after = asked.offset + len(page)
    more = f"There is more: ask again for this group with offset {after}." if after < len(lines) else ""
    return "\n".join(filter(None, [head, *page, more, missing]))


def _page(lines: Sequence[str], room: int, count: Count) -> list[str]:
    """As many lines as have room; at least one, of which the end is cut off where it has none."""
    left, page = room, list[str]()
    for line in lines:
        left -= count(line) + 1
        if left < 0:
            break
        page.append(line)
    return page or [f"{lines[0][: _CHARACTERS * room]} …"]
