"""Calls of tools: which result answers which call, and which are calls of this memory's own tools.

A result answers a call by its id, and where one of them has none by the tool's name, in their order.
"""

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from om_api.domain.messages import Message

Part = dict[str, Any]
_SPEAKERS = ("user", "system")
# Names of tools that are reserved for this memory: their calls and results are neither indexed nor noted.
RECALL, WORKING, SHARE = "recall", "update_working_memory", "share_note"
RESERVED = frozenset({RECALL, WORKING, SHARE})
# The tools of the MCP server, reserved behind the prefix that hosts write: mcp__memory__browse.
MCP_TOOLS = frozenset(
    {
        *RESERVED,
        *("get_context", "add_messages", "list_threads", "browse", "observations", "sources", "forget", "status"),
    }
)
_MCP_SERVERS = ("memory", "cortex-om", "cortex_om")


class Exchange(NamedTuple):
    """The calls that a message makes and those that it answers, by id or by a made-up one that no id can be."""

    calls: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """For each message of one thread, oldest first, what it calls and answers."""
    waiting = _Waiting()
    return [_exchange(message, waiting) for message in messages]


def _exchange(message: Message, waiting: "_Waiting") -> Exchange:
    if isinstance(message.content, str):
        return Exchange()
    calls, answers = set[str](), set[str]()
    for part in message.content:
        if part["type"] == "tool-call":
            calls.add(waiting.call(part))
        elif part["type"] == "tool-result":
            answers.add(waiting.answer(part))
    return Exchange(frozenset(calls), frozenset(answers - {""}))


def named(message: Message, names: dict[str, str]) -> Message:
    """A message whose results say the name of their tool where only their calls did; `names`, by id, learns from its calls."""
    if isinstance(message.content, str):
        return message
    parts = [_named(part, names) for part in message.content]
    same = all(part is was for part, was in zip(parts, message.content, strict=True))
    return message if same else msgspec.structs.replace(message, content=parts)


def _named(part: Part, names: dict[str, str]) -> Part:
    if part["type"] == "tool-call" and _name(part):
        names[call_id(part)] = _name(part)
    if part["type"] != "tool-result" or _name(part) or not call_id(part):
        return part
    name = names.get(call_id(part))
    return {**part, "name": name} if name else part


class _ByTool:
    """Keys of calls or results by the name of their tool, oldest first. A key that is closed is passed once."""

    def __init__(self) -> None:
        self._all: defaultdict[str, deque[str]] = defaultdict(deque)
        self._anonymous: defaultdict[str, deque[str]] = defaultdict(deque)

    def add(self, key: str, part: Part) -> None:
        self._all[_name(part)].append(key)
        if not call_id(part):
            self._anonymous[_name(part)].append(key)

    def oldest(self, other: Part, open_keys: Container[str]) -> str | None:
        """The oldest open key of this part's tool, among those without an id if the part has one."""
        queue = (self._anonymous if call_id(other) else self._all)[_name(other)]
        while queue and queue[0] not in open_keys:
            queue.popleft()
        return queue[0] if queue else None


class _Waiting:
    """Calls without an answer so far."""

    def __init__(self) -> None:
        self._open, self._by_tool, self._made = set[str](), _ByTool(), 0

    def call(self, part: Part) -> str:
        """The call waits from now on; by which name."""
        self._made += 1
        call = call_id(part) or f"\0{self._made}"
        self._open.add(call)
        self._by_tool.add(call, part)
        return call

    def answer(self, part: Part) -> str:
        """The name of the call that is answered, which waits no longer; "" for a result without an id that answers none."""
        own = call_id(part)
        found = own if own in self._open else self._by_tool.oldest(part, self._open) or ""
        self._open.discard(found)
        return found or own


def matched(calls: Sequence[Part], results: Sequence[Part]) -> list[tuple[Part, Part]]:
    """The calls of one turn that are answered, in their order, each with its result; of several with one id the first."""
    asked, answers, by_tool = _by_id(calls), _by_id(results), _ByTool()
    for key, result in answers.items():
        by_tool.add(key, result)
    found = {key: answers.pop(key) for key in asked if key in answers and call_id(asked[key])}
    for key, call in asked.items():
        if key not in found and (other := by_tool.oldest(call, answers)) is not None:
            found[key] = answers.pop(other)
    return [(call, found[key]) for key, call in asked.items() if key in found]


def _by_id(parts: Sequence[Part]) -> dict[str, Part]:
    found: dict[str, Part] = {}
    for n, part in enumerate(parts):
        found.setdefault(call_id(part) or f"\0{n}", part)
    return found


def whole_from(messages: Sequence[Message], first: int) -> int:
    """Where a view may begin so that it has no result whose call it leaves out: from `first` on, or else before it.

    The newest message is in every view: an exchange that it belongs to is shown whole, unless someone spoke between call
    and result, who stand apart anyway then.
    """
    made = exchanges(messages)
    spans = _spans(made)
    spoken = list(
        accumulate((m.role in _SPEAKERS and e == Exchange() for m, e in zip(messages, made, strict=True)), initial=0)
    )
    close = [(call, answer) for call, answer in spans if spoken[answer] == spoken[call]]
    places = [place for pairs in (spans, close) for place in _between(pairs, len(messages)) if place >= first]
    return places[0] if places else max(_between(close, len(messages)))


def beginnings(messages: Sequence[Message]) -> list[int]:
    """The places where a view may begin that has no result without its call, the first one among them."""
    return _between(_spans(exchanges(messages)), len(messages))


def _spans(made: Sequence[Exchange]) -> list[tuple[int, int]]:
    """From each call to its first answer, by place."""
    asked: dict[str, int] = {}
    spans: list[tuple[int, int]] = []
    for place, each in enumerate(made):
        spans += [(asked.pop(name), place) for name in each.answers - each.calls if name in asked]
        asked |= dict.fromkeys(each.calls - each.answers, place)
    return spans


def _between(spans: Sequence[tuple[int, int]], n: int) -> list[int]:
    """The places before which one may begin, the whole beginning among them."""
    steps = [0] * (n + 1)
    for call, answer in spans:
        steps[call + 1] += 1
        steps[answer + 1] -= 1
    return [place for place, within in enumerate(accumulate(steps[:n])) if not within]


def call_id(part: Mapping[str, Any]) -> str:
    """The id of a call or result; "" if it has none."""
    return str(part.get("tool_call_id") or "")


def _name(part: Part) -> str:
    return str(part.get("name") or "")


# -- this memory's own tools ----------------------------------------------------------------------------------------------


def is_reserved(name: str) -> bool:
    """Whether a tool's name is reserved for this memory; MCP hosts write `mcp__<server>__<tool>`."""
    host, _, rest = name.partition("__")
    server, _, tool = rest.partition("__")
    return name in RESERVED or (host == "mcp" and (tool in RESERVED or (server in _MCP_SERVERS and tool in MCP_TOOLS)))


class OwnCalls:
    """Finds calls of own tools and their results in the messages of one thread, given oldest first.

    `ids` are the ids of own calls in earlier messages of the thread.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._answered = dict.fromkeys(ids, False)

    @property
    def open(self) -> list[str]:
        """The ids of own calls that no result answered, the newest last."""
        return [name for name, answered in self._answered.items() if not answered]

    def without(self, message: Message) -> Message:
        """The message without calls of own tools and their results; itself if it has none."""
        if isinstance(message.content, str):
            is_answer = message.role == "tool" and message.name is not None and is_reserved(message.name)
            return msgspec.structs.replace(message, content="", tokens=None) if is_answer else message
        parts = [part for part in message.content if not self._is_own(part)]
        same = len(parts) == len(message.content)
        return message if same else msgspec.structs.replace(message, content=parts, tokens=None)

    def _is_own(self, part: Part) -> bool:
        own, name = is_reserved(_name(part)), call_id(part)
        if part["type"] == "tool-call":
            self._answered.pop(name, None)  # of an earlier call: programs use ids again
            if own and name:
                self._answered[name] = False
        elif part["type"] == "tool-result" and name in self._answered:
            self._answered[name] = own = True
        return own


def without_own(messages: Iterable[Message], ids: Iterable[str] = ()) -> list[Message]:
    """Messages of one thread without calls of own tools and their results; `ids` as in OwnCalls."""
    own = OwnCalls(ids)
    return [own.without(message) for message in messages]


def has_stray_results(messages: Iterable[Message | None]) -> bool:
    """Whether a result names no tool and its call is not among the messages, so that it may answer an earlier call."""
    called = set[str]()
    for message in messages:
        for part in message.content if message and not isinstance(message.content, str) else ():
            if part["type"] == "tool-call":
                called.add(call_id(part))
            elif part["type"] == "tool-result" and not _name(part) and call_id(part) not in called:
                return True
    return False
