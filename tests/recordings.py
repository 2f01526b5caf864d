"""What was said with four APIs, as their SDKs give and take it, and what those SDKs accept."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from anthropic.types import MessageParam, TextBlockParam
from google.genai import types as google
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

_DATA = Path(__file__).parent / "data" / "recorded"
RECORDED = {path.stem: json.loads(path.read_text()) for path in sorted(_DATA.glob("*.json"))}
_CHAT = TypeAdapter(list[ChatCompletionMessageParam])
_ITEMS = TypeAdapter(list[ResponseInputItemParam])
_SYSTEM, _MESSAGES = TypeAdapter(list[TextBlockParam]), TypeAdapter(list[MessageParam])


def _read(value: Any) -> Any:
    """All of it: what a type calls Iterable is only checked as it is read."""
    if isinstance(value, dict):
        return {name: _read(item) for name, item in value.items()}
    return [*map(_read, value)] if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value


def _contents(value: Any) -> list[Any]:
    return [google.Content.model_validate(content).model_dump(exclude_none=True) for content in value]


ACCEPTS = {
    "openai_chat": lambda messages: _read(_CHAT.validate_python(messages)),
    "openai_responses": lambda items: _read(_ITEMS.validate_python(items)),
    "anthropic": lambda messages: _read(_MESSAGES.validate_python(messages)),
    "gemini": _contents,
}


def accepted(context: Any) -> dict[str, list[Any]]:
    """A context in all four forms; raises pydantic's ValidationError for what an SDK would refuse."""
    anthropic, gemini = context.as_anthropic(), context.as_gemini()
    _read(_SYSTEM.validate_python(anthropic["system"]))
    if "system_instruction" in gemini:
        google.Content.model_validate(gemini["system_instruction"])
    sent = {
        "openai_chat": context.as_openai(),
        "openai_responses": context.as_openai_responses(),
        "anthropic": anthropic["messages"],
        "gemini": gemini["contents"],
    }
    for form, messages in sent.items():
        ACCEPTS[form](messages)
    return sent


def called(form: str, messages: list[Any]) -> list[tuple[str, Any]]:
    """The calls in a request, each with its arguments, in their order; every one is answered right behind it."""
    asked: list[tuple[str, Any]] = []
    waiting: list[str] = []
    for kind, name, said in _events(form, messages):
        if kind == "call":
            asked.append((said["name"], said["args"]))
            waiting.append(name)
        elif kind == "answer":
            assert name in waiting, f"{name} answers no call"
            waiting.remove(name)
        else:
            assert not waiting, f"{waiting} are not answered right behind their calls"
    assert not waiting
    return asked


def _events(form: str, messages: list[Any]) -> Iterator[tuple[str, str, Any]]:
    return {"openai_chat": _chat, "openai_responses": _items, "anthropic": _blocks, "gemini": _parts}[form](messages)


def _chat(messages: list[Any]) -> Iterator[tuple[str, str, Any]]:
    for message in messages:
        if message["role"] == "tool":
            yield "answer", message["tool_call_id"], None
            continue
        if message["content"]:
            yield "words", "", None
        for call in message.get("tool_calls", ()):
            args = json.loads(call["function"]["arguments"])
            yield "call", call["id"], {"name": call["function"]["name"], "args": args}


def _items(items: list[Any]) -> Iterator[tuple[str, str, Any]]:
    for item in items:
        if item["type"] == "function_call":
            yield "call", item["call_id"], {"name": item["name"], "args": json.loads(item["arguments"])}
        elif item["type"] == "function_call_output":
            yield "answer", item["call_id"], None
        else:
            yield "words", "", None


def _blocks(messages: list[Any]) -> Iterator[tuple[str, str, Any]]:
    for block in (block for message in messages for block in message["content"]):
        if block["type"] == "tool_use":
            yield "call", block["id"], {"name": block["name"], "args": block["input"]}
        elif block["type"] == "tool_result":
            yield "answer", block["tool_use_id"], None
        else:
            yield "words", "", None


def _parts(contents: list[Any]) -> Iterator[tuple[str, str, Any]]:
    for part in (part for content in contents for part in content["parts"]):
        if "functionCall" in part:
            yield "call", part["functionCall"]["name"], part["functionCall"]
        elif "functionResponse" in part:
            yield "answer", part["functionResponse"]["name"], None
        else:
            yield "words", "", None
