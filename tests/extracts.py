"""Requests to the extractive model, and what comes of them."""

import json
from datetime import date
from pathlib import Path

from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.values import to_ms
from om_api.domain.wire import parse_member
from om_workers.llm.base import Request
from om_workers.llm.extractive import Extractive
from om_workers.llm.extractive.notes import counted

DATA = Path(__file__).parent / "data"
WEDNESDAY = date(2025, 12, 3)
START = to_ms("2025-12-03T14:30:00Z")
TAGS = ("<observations", "</observations", "<current-task", "<suggested-response", "<thread", "<system-reminder")


def load(name):
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [parse_member(line.encode(), "t-1", "harold", to_ms(json.loads(line)["timestamp"])) for line in lines]


def size(message):
    return count_message(message, counted)


def chunks(messages, limit=6_000):
    chunk, total = [], 0
    for message in messages:
        if chunk and total + size(message) > limit:
            yield chunk, total
            chunk, total = [], 0
        chunk.append(message)
        total += size(message)
    yield chunk, total


def observe(*messages, **fields):
    request = Request(purpose="observe", system="", prompt="", messages=tuple(messages), **fields)
    return Extractive().complete(request).text


def reflect(*observations, **fields):
    request = Request(purpose="reflect", system="", prompt="", observations=observations, **fields)
    return Extractive().complete(request).text


def said(text, role="user", minute=0, **fields):
    return Message(role=role, content=text, at=START + minute * 60_000, **fields)


def called(name, args, number=1, minute=0):
    part = {"type": "tool-call", "tool_call_id": f"c-{number}", "name": name, "args": args}
    return Message(role="assistant", content=[part], at=START + minute * 60_000)


def returned(name, result, number=1, minute=0, **fields):
    part = {"type": "tool-result", "tool_call_id": f"c-{number}", "name": name, "result": result, **fields}
    return Message(role="tool", content=[part], at=START + minute * 60_000)


def block(text):
    return text.partition("<observations>\n")[2].partition("</observations>")[0].splitlines()


HIGH = [
    f"* 🔴 (09:{minute:02d}) User: I keep {minute + 2} parrots called {name}"
    for minute, name in enumerate(("Kiko", "Rio", "Bo"))
]
LOW = [
    f"* 🟢 (10:{minute:02d}) Assistant: some remark on lamp {minute} and its colourful shade" for minute in range(40)
]
