"""A model that answers what it was told to, for tests, demonstrations and rehearsals."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from om_api.errors import ModelError
from om_api.tags import escape
from om_workers.llm.base import Reply, Request
from om_workers.llm.extractive.dates import Clock, show

if TYPE_CHECKING:
    from om_api.values import Message

Answer: TypeAlias = str | Reply | Exception | Callable[[Request], str]
_LONGEST = 60


class Scripted:
    """Replays replies in order and keeps the `requests` it was asked; threads may share it.

    A reply is a text, a Reply, an exception to raise, or a function from Request to text. Raises ModelError (not
    retryable) when no reply is left.
    """

    def __init__(self, *replies: Answer, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._replies = deque(replies)
        self._always: Callable[[Request], str] | None = None
        self._keep: int | None = None
        self._lock = threading.Lock()

    @classmethod
    def echo(cls, *, name: str = "scripted", delay: float = 0.0, answer: str = "", keep: int | None = None) -> Scripted:
        """A model that never runs out: it notes every message with its id, and reflects every line it was given.

        `delay` (s) is how long it thinks. With an `answer` it says nothing but that. Of its `requests` the last `keep` stay.
        """
        model = cls(name=name)
        model._keep = keep
        model._always = lambda request: _after(delay, answer or _echo(request))
        return model

    def complete(self, request: Request) -> Reply:
        """Answer with the next reply."""
        answer = self._next(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(text=answer if isinstance(answer, str) else answer(request), model=self.name)

    def _next(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if self._keep is not None:
                del self.requests[: -self._keep]
            if self._replies:
                return self._replies.popleft()
            if self._always:
                return self._always
            raise ModelError(
                f"{self.name} was asked {len(self.requests)} times but has only {len(self.requests) - 1} replies: "
                f"give Scripted one reply for each request, or use Scripted.echo()",
                retryable=False,
            )


def _after(delay: float, text: str) -> str:
    if delay:
        time.sleep(delay)
    return text


def _echo(request: Request) -> str:
    lines = _noted(request) if request.purpose == "observe" else _given(request)
    return "\n".join(["<observations>", *lines, "</observations>"])


def _noted(request: Request) -> list[str]:
    clock = Clock(request.timezone)
    if not request.threads:
        return _dated(request.messages, clock)
    sections = ([f'<thread id="{name}">', *_dated(said, clock), "</thread>"] for name, said in request.threads.items())
    return [line for section in sections for line in section]


def _dated(messages: Iterable[Message], clock: Clock) -> list[str]:
    lines: list[str] = []
    day = ""
    for message in messages:
        at = clock.at(message.at)
        if show(at) != day:
            day = show(at)
            lines.append(f"Date: {day}")
        lines.append(f"* 🟡 ({at:%H:%M}) [{message.id}] {escape(' '.join(message.text().split())[:_LONGEST])}".rstrip())
    return lines


def _given(request: Request) -> list[str]:
    texts = (
        request.observations if request.previous in request.observations else (request.previous, *request.observations)
    )
    return [line for text in texts for line in text.splitlines() if line.strip()]
