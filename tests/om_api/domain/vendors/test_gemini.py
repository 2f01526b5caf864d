"""What Gemini's parts become, as its API writes them and as its SDK dumps them."""

import pytest
from google.genai import types

from om_api.domain.vendors.gemini import part
from om_api.domain.wire import message_of

PARTS = [
    (types.Part(text="x"), {"type": "text", "text": "x"}),
    (types.Part(text="hm", thought=True), {"type": "reasoning", "text": "hm"}),
    (
        types.Part(function_call=types.FunctionCall(name="f", args={"a": 1}), thought_signature=b"\xff\xfeab"),
        {"type": "tool-call", "name": "f", "args": {"a": 1}, "thought_signature": "//5hYg=="},
    ),
    (
        types.Part(function_call=types.FunctionCall(id="c", name="f")),
        {"type": "tool-call", "tool_call_id": "c", "name": "f", "args": {}},
    ),
    (
        types.Part.from_function_response(name="f", response={"result": 4}),
        {"type": "tool-result", "name": "f", "result": {"result": 4}, "is_error": False},
    ),
    (
        types.Part.from_function_response(name="f", response={"error": "no"}),
        {"type": "tool-result", "name": "f", "result": "no", "is_error": True},
    ),
    (
        types.Part.from_bytes(data=b"\xff\xfeab", mime_type="image/png"),
        {"type": "image", "url": "data:image/png;base64,//5hYg==", "mime": "image/png"},
    ),
    (
        types.Part.from_uri(file_uri="gs://b/a.pdf", mime_type="application/pdf"),
        {"type": "file", "url": "gs://b/a.pdf", "mime": "application/pdf"},
    ),
    (
        types.Part(executable_code=types.ExecutableCode(code="1+1", language="PYTHON")),
        {"type": "executable_code", "executable_code": {"code": "1+1", "language": "PYTHON"}},
    ),
]


def forms(content):
    """As the SDK's object, its two dumps, and the JSON of the API."""
    yield content
    yield content.model_dump()
    yield content.model_dump(mode="json", exclude_none=True)
    yield content.model_dump(mode="json", by_alias=True)


@pytest.mark.parametrize(("written", "made"), PARTS)
def test_a_part_is_ours_however_it_was_dumped(written, made):
    found = [message_of(form) for form in forms(types.Content(role="model", parts=[written]))]

    assert [(one.role, _without_nulls(one.content)) for one in found] == [("assistant", [made])] * 4


def _without_nulls(value):
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ({}, {"type": "unknown"}),
        ({"ofTomorrow": {"x": 1}}, {"type": "of_tomorrow", "of_tomorrow": {"x": 1}}),
        ({"type": 7, "x": 1}, {"type": "x", "x": 1}),
        ({"thoughtSignature": "AAAA"}, {"type": "unknown", "thought_signature": "AAAA"}),
        ({"functionCall": 5}, {"type": "tool-call", "name": "", "args": {}}),
        ({"text": "", "thoughtSignature": ""}, {"type": "text", "text": ""}),
        (
            {"functionResponse": {"name": "f", "response": {}, "parts": [{"inlineData": {}}]}},
            {"type": "tool-result", "name": "f", "result": {}, "is_error": False, "parts": [{"inlineData": {}}]},
        ),
    ],
)
def test_a_part_that_nobody_knows_is_called_by_its_field(written, made):
    assert part(written) == made
