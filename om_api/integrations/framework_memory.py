"""A memory as a framework's adapter uses it: each model call is kept and answered with what the model should read."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import msgspec

from om_api.client.memory import ObservationalMemory
from om_api.context.recall_tool import NAME as RECALL
from om_api.context.recall_tool import UNREACHED, recall_tool
from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError, RateLimitedError, StoreError
from om_api.domain.messages import Message
from om_api.integrations.turn import AgentTurn, ModelView, Render, view_of, without_recalled
from om_api.settings import Settings
from om_api.settings.logs import library_log

T = TypeVar("T")
_KNOWN = 100_000  # messages whose names are remembered; of others the store is asked
_LAST = 500  # ids of a history that are looked up


class MemoryUnavailableError(StoreError):
    """The store did not answer. Frameworks may show the text of an error to users, so the host is only in the log."""


@contextmanager
def store_errors_in_log() -> Iterator[None]:
    """Log a StoreError and raise MemoryUnavailableError instead. RateLimitedError passes."""
    try:
        yield
    except (RateLimitedError, MemoryUnavailableError):
        raise
    except StoreError as error:
        library_log().error("memory_unavailable", error=Settings.safe_url(str(error)))
        raise MemoryUnavailableError(UNREACHED, stored=error.stored) from None


class RecallSpec(NamedTuple):
    """Recall as a model's tool: its name, what it is for, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class FrameworkMemory:
    """What adapters have in common. Thread-safe, and blocking: its asyncio twins run in a thread, whatever the loop.

    Messages are kept by the ids that the framework gives them. What has none, and a history that begins with ids nobody
    knows, is found by what it says (`sync`): so a framework may send the whole of it again, each time under other ids.
    Raises MemoryUnavailableError, unless the memory was made with `fail_open`. `recalls` are tools that answer from a memory.
    `is_whole` where a framework always holds the whole conversation (see `view_of`).
    """

    recalls: Collection[str] = (RECALL,)
    is_whole = False

    def __init__(self, memory: ObservationalMemory | None = None) -> None:
        if memory is not None and not isinstance(memory, ObservationalMemory):
            raise InvalidInputError(
                f"memory is {type(memory).__name__}: hand over an ObservationalMemory, which asyncio adapters use too"
            )
        self.memory = memory or ObservationalMemory()
        self._names: LRU[tuple[str, str, str], str] = LRU(_KNOWN)

    @store_errors_in_log()
    def ask(self, method: Callable[..., T], *given: Any, **named: Any) -> T:
        """Call a method of the memory; raises MemoryUnavailableError if the store does not answer."""
        return method(*given, **named)

    @store_errors_in_log()
    def view(self, turn: AgentTurn, render: Render) -> ModelView:
        """Keep what is new of a turn, and say what a model reads of it: two round trips, one where nothing is new."""
        names = self.record(turn)
        context = self.memory.get_context(turn.thread_id, turn.resource_id)
        return view_of(turn, names, context, render, is_whole=self.is_whole)

    async def aview(self, turn: AgentTurn, render: Render) -> ModelView:
        """The same in asyncio."""
        return await asyncio.to_thread(self.view, turn, render)

    @store_errors_in_log()
    def record(self, turn: AgentTurn) -> list[str | None]:
        """Keep what is new of a turn; the id that each of its messages is kept under, None where it is not (yet)."""
        messages = [*without_recalled(turn.messages, self.recalls)]
        names = [self._names.get((turn.resource_id, turn.thread_id, each.id)) if each.id else None for each in messages]
        if None not in names:
            return names
        loose = names[0] is None or not all(each.id for each in messages)
        if loose and any(each.role == "assistant" for each in messages):
            names = self._synced(turn, messages) or names
        new = [n for n in _said_last(messages) if names[n] is None] if loose else _missing(names)
        return self._added(turn, messages, names, new)

    async def arecord(self, turn: AgentTurn) -> list[str | None]:
        """The same in asyncio."""
        return await asyncio.to_thread(self.record, turn)

    @store_errors_in_log()
    def raw(self, resource_id: str, thread_id: str) -> list[Message]:
        """What a model would read as it was said: the history of a framework that keeps none."""
        messages = self.memory.get_context(thread_id, resource_id).messages
        self._learn(AgentTurn(resource_id, thread_id, ()), messages, [each.id for each in messages])
        return messages

    async def araw(self, resource_id: str, thread_id: str) -> list[Message]:
        """The same in asyncio."""
        return await asyncio.to_thread(self.raw, resource_id, thread_id)

    @store_errors_in_log()
    def recall(self, arguments: Any, resource_id: str, thread_id: str) -> str:
        """The text of a recall tool's result in a thread; invalid arguments are answered with what is permitted."""
        return self.memory.answer_recall(arguments, resource_id, thread_id=thread_id)

    async def arecall(self, arguments: Any, resource_id: str, thread_id: str) -> str:
        """The same in asyncio."""
        return await asyncio.to_thread(self.recall, arguments, resource_id, thread_id)

    def _synced(self, turn: AgentTurn, messages: Sequence[Message]) -> list[str | None]:
        """The names of a whole history, of which what is new is kept; none where the store is away.

        Ids of which a thread knows none are new each time: what they are ids of is found by what it says.
        """
        strange = self._are_strange([each.id for each in messages if each.id], turn.resource_id, turn.thread_id)
        given = [msgspec.structs.replace(each, id="") for each in messages] if strange else messages
        found = self.memory.sync(given, turn.resource_id, turn.thread_id)
        if not (found.added or found.known or found.grown or found.changed):
            return []
        self._learn(turn, messages, found.ids)
        return [*found.ids]

    def _are_strange(self, ids: Sequence[str], resource: str, thread: str) -> bool:
        try:
            known = self.memory.known_ids(ids[-_LAST:], resource, thread)
            return not known and self.memory.is_known(resource, thread)
        except StoreError:
            return False  # `sync` says whether that is an error

    def _added(
        self, turn: AgentTurn, messages: Sequence[Message], names: list[str | None], new: Sequence[int]
    ) -> list[str | None]:
        if new:
            given = [messages[n] for n in new]
            ids = self.memory.add_messages(given, thread_id=turn.thread_id, resource_id=turn.resource_id).ids
            self._learn(turn, given, ids)
            for n, name in zip(new, ids, strict=True):
                names[n] = name
        return names

    def _learn(self, turn: AgentTurn, messages: Sequence[Message], ids: Sequence[str]) -> None:
        for message, name in zip(messages, ids, strict=True):
            if message.id:
                self._names.put((turn.resource_id, turn.thread_id, message.id), name)


def recall_spec() -> RecallSpec:
    """Recall as a framework's tool takes it."""
    return RecallSpec(**recall_tool()["function"])


def _missing(names: Sequence[str | None]) -> list[int]:
    return [n for n, name in enumerate(names) if name is None]


def _said_last(messages: Sequence[Message]) -> range:
    """What is surely new while nobody can be asked: from a user's last words on; what precedes it comes again."""
    end = next((n for n in reversed(range(len(messages))) if messages[n].role == "user"), 0)
    start = next((n + 1 for n in reversed(range(end)) if messages[n].role != "user"), 0)
    return range(start, len(messages))
