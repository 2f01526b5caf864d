"""Raw messages as turns every provider accepts: each tool call is answered right after it, or both are plain text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import groupby, pairwise
from operator import is_
from typing import Any, NamedTuple

import msgspec

from om_api.context.days import Day, Parted
from om_api.context.parts import Part, arguments, part_text, result_media, result_text
from om_api.domain.media import attached
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.domain.tool_calls import call_id, matched
from om_api.domain.vendors.ours import THOUGHTS

_WIRE_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_FIELD_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what OpenAI's field `name` may hold


class ToolCall(NamedTuple):
    """One call of a tool; `arguments` are JSON."""

    id: str
    name: str
    arguments: str


class ToolAnswer(NamedTuple):
    """A tool's result of one call: its text, in which images and files are named, and these."""

    id: str
    text: str
    failed: bool
    media: list[Part]


class Turn(msgspec.Struct, dict=True):
    """What one side says at once. Nobody changes one: it may stand in many contexts.

    `parts` are texts (escaped, never blank) and, in role user, images and files with a url or a `file_id`. `calls` (role
    assistant) and `results` (role tool) match one to one: the turn after one with calls holds their results and nothing else.
    `thoughts` are what came with the calls, as it was written: some providers want it back, no other may have it. `day` is
    when a user's words were said, and `line` says that another day begins. `speaker` is the name of a user who says one, and
    `name` the same, or an assistant's, where it may stand in OpenAI's field of that name.
    """

    role: str
    parts: list[Part] = []
    calls: list[Part] = []
    results: list[Part] = []
    thoughts: list[Part] = []
    day: Day = None
    line: Part | None = None
    speaker: str = ""
    name: str = ""

    @cached_property
    def said(self) -> list[Part]:
        """The parts with the line of their day before them, and the speaker's name before the first text."""
        return self._led([{"type": "text", "text": f"{self.speaker}: "}] if self.speaker else [])

    @cached_property
    def unsigned(self) -> list[Part]:
        """The same without the speaker's name, for a provider that has a field for it."""
        return self._led([])

    def _led(self, lead: list[Part]) -> list[Part]:
        parts = self.parts
        if lead and parts and parts[0]["type"] == "text":
            lead, parts = [{"type": "text", "text": lead[0]["text"] + parts[0]["text"]}], parts[1:]
        return [*([self.line] if self.line else []), *lead, *parts]

    @property
    def text(self) -> str:
        """The texts, a line each."""
        return text_of(self.said) or ""

    @cached_property
    def words(self) -> str | None:
        """The text of a turn that is nothing else; None for any other."""
        is_text = not self.calls and not self.results and is_only_text(self.said)
        return self.text if is_text else None

    @cached_property
    def asked(self) -> list[ToolCall]:
        """The calls, as all providers take them."""
        written = (msgspec.json.encode(arguments(part)).decode() for part in self.calls)
        return [ToolCall(wire_id(part), wire_name(part), text) for part, text in zip(self.calls, written, strict=True)]

    @cached_property
    def answered(self) -> list[ToolAnswer]:
        """The results, as text."""
        return [
            ToolAnswer(wire_id(part), result_text(part), bool(part.get("is_error")), result_media(part))
            for part in self.results
        ]


def text_of(parts: Iterable[Part]) -> str:
    """The texts of parts, a line each."""
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def is_only_text(parts: Iterable[Part]) -> bool:
    """Whether all parts are texts."""
    return all(part["type"] == "text" for part in parts)


class _Piece(NamedTuple):
    """One part of a message; `lane` is who can say it: user, assistant, system, or result for what a tool answered."""

    lane: str
    message: int
    part: Part


class Turns:
    """One thread's messages as turns that no provider refuses, again and again: only what is new since the last cut is arranged.

    Calls that were written as several messages of one turn stay one turn. A call whose result does not follow at once,
    and a result whose call does not stand right before it, become text. A cut is where nothing before changes what comes
    of the messages behind it. The line of a new day stands before the first words of a user on it: no model imitates it
    there, and no call is parted from its result. Nobody may change what it is asked or gives.
    """

    def __init__(self) -> None:
        self._settled = _Settled([], [], {}, None, None)

    def __call__(self, messages: list[Message], parted: Parted | None = None) -> list[Turn]:
        """The turns of these messages, parted by their days."""
        lines = parted and (parted.first, parted.line)
        settled = self._settled
        if settled.lines != lines or not _continues(settled.messages, messages):
            settled = _Settled([], [], {}, lines, None)
        n = len(settled.messages)
        rest = messages[n:]
        days: list[Day] = [*parted.days[n:]] if parted else [None for _ in rest]
        if cut := _last_cut(rest):
            settled = self._settled = _further(settled, rest[:cut], days[:cut], parted)
        return _further(settled, rest[cut:], days[cut:], parted).made


class _Settled(NamedTuple):
    """Messages and the turns made of them, the ids used for calls, what parted their days, and the last of these.

    `used` has the last number that was put behind an id to tell calls apart.
    """

    messages: list[Message]
    made: list[Turn]
    used: Mapping[str, int]
    lines: tuple[Any, ...] | None
    day: Day


def _further(settled: _Settled, messages: list[Message], days: list[Day], parted: Parted | None) -> _Settled:
    """What was settled, and these messages."""
    used = dict(settled.used)
    made = _told_apart(_arranged(messages, days), used)
    day = _dated(made, settled.day, parted) if parted else None
    return _Settled([*settled.messages, *messages], [*settled.made, *made], used, settled.lines, day)


def _dated(made: list[Turn], day: Day, parted: Parted) -> Day:
    """Put the line of each new day before a user's words; the last day so far."""
    for turn in made:
        if turn.day:
            if line := parted.crossed(day, turn.day):
                turn.line = {"type": "text", "text": line.text}
            day = turn.day
    return day


def _arranged(messages: Sequence[Message], days: Sequence[Day]) -> list[Turn]:
    made: list[Turn] = []
    pairs: list[tuple[Part, Part]] = []
    runs = [(lane, list(run)) for lane, run in groupby(_pieces(messages), key=lambda piece: piece.lane)]
    for (lane, run), (following, answers) in pairwise([*runs, ("", [])]):
        if lane == "result":
            made += _results(run, pairs)
        pairs = _pairs(run, answers) if (lane, following) == ("assistant", "result") else []
        if lane != "result":
            made += _calls(run, pairs, messages) if pairs else _said(lane, run, days, messages)
    return made


def _continues(settled: list[Message], messages: list[Message]) -> bool:
    n = len(settled)
    return (
        len(messages) >= n
        and all(map(is_, settled, messages))
        and (not n or len(messages) == n or _cuts(settled[-1], messages[n]))
    )


def _last_cut(messages: Sequence[Message]) -> int:
    """The last place before which no call waits for its result, and no turn that may go on; 0 if there is none."""
    places = range(len(messages) - 1, 0, -1)
    return next((place for place in places if _cuts(messages[place - 1], messages[place])), 0)


def _cuts(before: Message, message: Message) -> bool:
    """Whether words begin here: a user's or the system's anywhere, an assistant's behind another's."""
    lead, last = _lanes(message)[:1], _lanes(before)[-1:]
    return lead in (["user"], ["system"]) or (lead == ["assistant"] and last not in ([], ["assistant"]))


def _lanes(message: Message) -> list[str]:
    return [piece.lane for piece in _pieces([message])]


def _told_apart(made: list[Turn], used: dict[str, int]) -> list[Turn]:
    """Give each call an id that is not used yet, and its result the same: agents may count their calls anew in every turn."""
    for place, turn in enumerate(made):
        if turn.calls:
            names = [_unused(call_id(call) or f"call_{wire_name(call)}", used) for call in turn.calls]
            made[place] = msgspec.structs.replace(turn, calls=_renamed(turn.calls, names))
            made[place + 1] = Turn("tool", results=_renamed(made[place + 1].results, names))
    return made


def _unused(name: str, used: dict[str, int]) -> str:
    fresh, n = name, used.get(name, 1)
    while fresh in used:
        n += 1
        fresh = f"{name}-{n}"
    used[name], used[fresh] = n, 1
    return fresh


def _renamed(parts: list[Part], names: list[str]) -> list[Part]:
    return [{**part, "tool_call_id": name} for part, name in zip(parts, names, strict=True)]


def _pieces(messages: Sequence[Message]) -> Iterator[_Piece]:
    for index, message in enumerate(messages):
        calling = message.role == "assistant" and any(part["type"] == "tool-call" for part in message.parts)
        shown = (part for part in message.parts if not _blank(part) and (calling or part["type"] not in THOUGHTS))
        pieces = [_Piece(_lane(message.role, part), index, part) for part in shown]
        if message.role != "assistant":  # what answers a call has to come before what is said besides
            pieces.sort(key=lambda piece: piece.lane != "result")
        yield from pieces


def _blank(part: Part) -> bool:
    return part["type"] == "text" and not part["text"].strip()


def _lane(role: str, part: Part) -> str:
    if part["type"] == "tool-result" or (role == "tool" and part["type"] == "text"):
        return "result"
    return "user" if role == "tool" else role


def _pairs(calls: list[_Piece], results: list[_Piece]) -> list[tuple[Part, Part]]:
    return matched(_of("tool-call", calls), _of("tool-result", results))


def _of(kind: str, run: list[_Piece]) -> list[Part]:
    return [piece.part for piece in run if piece.part["type"] == kind]


def _calls(run: list[_Piece], pairs: Sequence[tuple[Part, Part]], messages: Sequence[Message]) -> list[Turn]:
    calls = [call for call, _ in pairs]
    paired = {id(call) for call in calls}
    rest = [piece.part for piece in run if id(piece.part) not in paired]
    thoughts = [part for part in rest if part["type"] in THOUGHTS]
    name = _field_name(messages[run[0].message])
    return [Turn("assistant", _sayable("assistant", rest), calls, thoughts=thoughts, name=name)]


def _results(run: list[_Piece], pairs: Sequence[tuple[Part, Part]]) -> list[Turn]:
    paired = {id(result) for _, result in pairs}
    rest = [_as_result(piece.part) for piece in run if id(piece.part) not in paired]
    named = [{**result, "name": call.get("name")} for call, result in pairs]
    answers = [Turn("tool", results=named)] if named else []
    return answers + ([Turn("user", _sayable("user", rest))] if rest else [])


def _as_result(part: Part) -> Part:
    return part if part["type"] == "tool-result" else {"type": "tool-result", "result": part["text"]}


def _said(lane: str, run: list[_Piece], days: Sequence[Day], messages: Sequence[Message]) -> list[Turn]:
    made: list[Turn] = []
    for number, pieces in groupby(run, key=lambda piece: piece.message):
        message, parts = messages[number], _sayable(lane, [piece.part for piece in pieces])
        turn = Turn(lane, parts, name=_field_name(message))
        if lane == "user":
            turn.day, turn.speaker = days[number], message.speaker
        made.append(turn)
    return made


def _field_name(message: Message) -> str:
    """The speaker as OpenAI's field `name` permits it; "" if it has other characters, or is like a role."""
    name, speaker = message.name or "", message.speaker
    fits = bool(speaker) and _FIELD_NAME.fullmatch(name) is not None
    return name if fits and (message.role == "assistant" or name == speaker) else ""


def _sayable(role: str, parts: Iterable[Part]) -> list[Part]:
    """Images and files as they are, texts in one, escaped as a whole: a tag may be split between two parts."""
    made: list[Part] = []
    said = [(part, _shown(role, part)) for part in parts if part["type"] not in THOUGHTS]
    for is_shown, group in groupby(said, key=lambda pair: pair[1] is not None):
        run = list(group)
        made += [shown for _, shown in run if shown] if is_shown else [_text(part for part, _ in run)]
    return made


def _text(parts: Iterable[Part]) -> Part:
    return {"type": "text", "text": escape("\n".join(map(part_text, parts)))}


def _shown(role: str, part: Part) -> Part | None:
    return attached(part) if role == "user" and part["type"] in {"image", "file"} else None


def wire_id(part: Mapping[str, Any]) -> str:
    """The part's tool_call_id as every provider takes it; one they would refuse is replaced by its hash."""
    name = str(part["tool_call_id"])
    return name if _WIRE_ID.fullmatch(name) else f"call_{sha256(name.encode()).hexdigest()[:24]}"


def wire_name(part: Mapping[str, Any]) -> str:
    """The tool's name as every provider takes it: letters, digits, _ and -, at most 64."""
    return _NOT_IN_NAMES.sub("_", str(part.get("name") or "unnamed"))[:_LONGEST_NAME]
