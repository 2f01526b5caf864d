"""What the suite says to a framework's agent, and hears from it: a line of JSON each. Needs nothing but the framework and us.

A driver runs in the framework's environment, as `python -m drivers.<name>` in tests/adapters. `serve(take_turn)` reads one
`Said` a line, has the agent take a turn of which the fake model's replies are given, and writes what that model was sent at
each call.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from om_api import ObservationalMemory

INSTRUCTIONS = {"main": "You are a careful assistant.", "other": "Other instructions."}


@dataclass(kw_only=True)
class Said:
    """A user's turn: the words, whose and where they are, and what the fake model is to reply, call by call.

    A reply is {"text": …}, {"text": …, "calls": [{"id", "name", "args"}]} or {"error": …}, which the model raises.
    """

    say: str
    replies: list[dict[str, Any]]
    thread: str | None = "t-1"
    resource: str | None = "harold"
    mode: str = "sync"  # or async, or stream
    agent: str = "main"
    again: list[dict[str, str]] | None = None  # a whole history that the caller holds and sends, before `say`


class ModelError(Exception):
    """What the fake model raises when it is told to."""


class Script:
    """The fake model's part of one turn: what it is to reply, and what it was sent. The newest one is in force."""

    newest: ClassVar["Script"]

    def __init__(self, replies: list[dict[str, Any]]) -> None:
        self._replies = replies
        self.calls: list[dict[str, Any]] = []
        self.tools: list[str] = []
        Script.newest = self

    def reply(self, system: str, messages: list[dict[str, Any]], tools: list[str]) -> dict[str, Any]:
        """The next reply to what was sent; `messages` are `message(…)`s. Raises ModelError where one is told."""
        self.calls.append({"system": system, "messages": messages})
        self.tools = tools
        reply = self._replies.pop(0)
        if "error" in reply:
            raise ModelError(reply["error"])
        return {"text": "", "calls": [], **reply}


def message(role: str, text: str = "", calls: list[dict[str, Any]] | None = None, answers: tuple[str, ...] = ()) -> Any:
    """A message as the model got it: role user, assistant or tool; `answers` are the ids of the calls it answers."""
    return {"role": role, "text": text, "calls": calls or [], "answers": list(answers)}


def look_up(key: str) -> str:
    """Look up the value of a key."""
    return f"the value of {key}"


def tell(n: int) -> str:
    """Tell a long story of n words."""
    return " ".join(f"word{k}" for k in range(int(n)))


def memory() -> ObservationalMemory:
    """The memory as the suite wants it."""
    return ObservationalMemory(fail_open=os.environ.get("FAIL_OPEN") == "1", timeout=2.0)


def serve(take_turn: Callable[[Said], str]) -> None:
    """Take turns until there are no more lines; what a turn raises is told, and the next one is taken."""
    for line in sys.stdin:
        said = Said(**json.loads(line))
        script, answer, error = Script(said.replies), None, None
        try:
            answer = take_turn(said)
        except Exception as raised:  # noqa: BLE001  whatever a framework makes of an error
            error = _chain(raised)
        print(json.dumps({"answer": answer, "error": error, "tools": script.tools, "calls": script.calls}), flush=True)  # noqa: T201


def _chain(raised: BaseException | None) -> str:
    """An error and what it comes from: frameworks wrap those of their parts."""
    told = []
    while raised is not None:
        told.append(f"{type(raised).__name__}: {raised}")
        raised = raised.__cause__ or raised.__context__
    return " <- ".join(told)
