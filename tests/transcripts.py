"""Messages, and how a transcript shows them."""

from om_api.domain.messages import Message
from om_api.domain.tokens import estimate
from om_workers.prompts.transcript import format_messages

AT = 1764839700000  # Dec 4 2025, 9:15 AM UTC


def message(content, role="user", at=AT, **fields):
    return Message(role=role, content=content, at=at, **fields)


def call(args, call_id="c1", name="search"):
    return {"type": "tool-call", "tool_call_id": call_id, "name": name, "args": args}


def outcome(result, call_id="c1", name="search", **fields):
    return {"type": "tool-result", "tool_call_id": call_id, "name": name, "result": result, **fields}


def lines(*messages, timezone="UTC"):
    return format_messages(messages, timezone, estimate).split("\n")
