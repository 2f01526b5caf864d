"""A model that answers what it was told to, for tests, demonstrations and rehearsals."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from om_api.domain.errors import ModelError
from om_api.domain.messages import Message
from om_api.domain.tags import escape
from om_api.language.calendar import LocalTime, show_day
from om_workers.llm.base import Reply, Request
from om_workers.llm.deadline import WaitFor, to_the_end, within

ScriptedAnswer: TypeAlias = str | Reply | Exception | Callable[[Request], str]
_LONGEST = 60


class Scripted:
    """Replays replies in order and keeps the `requests` it was asked, or the last `keep` of them; threads may share it.

    A reply is a text, a Reply, an exception to raise, or a function from Request to text. Raises ModelError (not
    retryable) when no reply is left.
    """

    def __init__(
        self, *replies: ScriptedAnswer, name: str = "scripted", keep: int | None = None, wait: WaitFor = to_the_end
    ) -> None:
        self.name, self._keep, self._wait = name, keep, wait
        self.requests: list[Request] = []
        self._replies = deque(replies)
        self._always: Callable[[Request], str] | None = None
        self._lock = threading.Lock()

    @classmethod
    def echo(cls, *, delay: float = 0.0, answer: str = "", **options: Any) -> "Scripted":
        """A model that never runs out: it notes every message with its id, and reflects every line it was given.

        `delay` (s) is how long it thinks. With an `answer` it says nothing but that. `options` are the class's own.
        """
        model = cls(**options)
        model._always = lambda request: model._after(delay, answer or _echo(request))
        return model

    def complete(self, request: Request) -> Reply:
        """Answer with the next reply."""
        answer = self._next(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(text=answer if isinstance(answer, str) else answer(request), model=self.name)

    def _after(self, delay: float, text: str) -> str:
        if delay:
            within(None, partial(asyncio.sleep, delay), self._wait)
        return text

    def _next(self, request: Request) -> ScriptedAnswer:
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


def _echo(request: Request) -> str:
    lines = _noted(request) if request.purpose == "observe" else _given(request)
    return "\n".join(["<observations>", *lines, "</observations>"])


def _noted(request: Request) -> list[str]:
    clock = LocalTime(request.timezone)
    if not request.threads:
        return _dated(request.messages, clock)
    sections = ([f'<thread id="{name}">', *_dated(said, clock), "</thread>"] for name, said in request.threads.items())
    return [line for section in sections for line in section]


def _dated(messages: Iterable[Message], clock: LocalTime) -> list[str]:
    lines: list[str] = []
    day = ""
    for message in messages:
        at = clock.at(message.at)
        if show_day(at) != day:
            day = show_day(at)
            lines.append(f"Date: {day}")
        lines.append(f"* 🟡 ({at:%H:%M}) [{message.id}] {escape(' '.join(message.text().split())[:_LONGEST])}".rstrip())
    return lines


def _given(request: Request) -> list[str]:
    texts = (
        request.observations if request.previous in request.observations else (request.previous, *request.observations)
    )
    return [line for text in texts for line in text.splitlines() if line.strip()]
