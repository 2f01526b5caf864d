"""A model that answers what it was told to, for tests, demonstrations and rehearsals."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from om_api.errors import ModelError
from om_api.tags import escape
from om_workers.llm.base import Reply, Request

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
        self._lock = threading.Lock()

    @classmethod
    def echo(cls, *, name: str = "scripted") -> Scripted:
        """A model that never runs out: it notes every message with its id, and reflects every line it was given."""
        model = cls(name=name)
        model._always = _echo
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
            if self._replies:
                return self._replies.popleft()
            if self._always:
                return self._always
            raise ModelError(
                f"{self.name} was asked {len(self.requests)} times but has only {len(self.requests) - 1} replies: "
                f"give Scripted one reply for each request, or use Scripted.echo()",
                retryable=False,
            )


def _echo(request: Request) -> str:
    lines = _noted(request.messages) if request.purpose == "observe" else _given(request)
    return "\n".join(["<observations>", *lines, "</observations>"])


def _noted(messages: tuple[Message, ...]) -> list[str]:
    lines: list[str] = []
    day = ""
    for message in messages:
        at = datetime.fromtimestamp(message.at / 1000, UTC)
        if (now := f"Date: {at:%b} {at.day}, {at.year}") != day:
            lines.append(now)
            day = now
        lines.append(f"* 🟡 ({at:%H:%M}) [{message.id}] {escape(' '.join(message.text().split())[:_LONGEST])}".rstrip())
    return lines


def _given(request: Request) -> list[str]:
    texts = (
        request.observations if request.previous in request.observations else (request.previous, *request.observations)
    )
    return [line for text in texts for line in text.splitlines() if line.strip()]
