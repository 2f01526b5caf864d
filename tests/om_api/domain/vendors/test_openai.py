"""What OpenAI's two APIs call a part, a call and an item."""

import pytest

from om_api.domain.vendors import openai
from om_api.domain.vendors.parts import to_parts

URL = "https://a.example/i.png"
PDF = "data:application/pdf;base64,AAAA"


@pytest.mark.parametrize(
    ("part", "made"),
    [
        ({"type": "input_text", "text": "x"}, {"type": "text", "text": "x"}),
        ({"type": "output_text", "text": "x", "annotations": [], "logprobs": None}, {"type": "text", "text": "x"}),
        ({"type": "refusal", "refusal": "no"}, {"type": "text", "text": "no"}),
        (
            {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
            {"type": "image", "url": URL, "detail": "low"},
        ),
        ({"type": "image_url", "image_url": URL}, {"type": "image", "url": URL}),
        (
            {"type": "input_image", "image_url": URL, "detail": "auto", "file_id": None},
            {"type": "image", "url": URL, "detail": "auto"},
        ),
        ({"type": "input_image", "file_id": "f-1"}, {"type": "image", "file_id": "f-1"}),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            {"type": "file", "url": "data:audio/mp3;base64,AAAA", "mime": "audio/mp3"},
        ),
        ({"type": "input_audio", "input_audio": 5}, {"type": "input_audio", "input_audio": 5}),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
            {"type": "file", "url": PDF, "name": "a.pdf"},
        ),
        ({"type": "file", "file": {"file_id": "f-1"}}, {"type": "file", "file_id": "f-1"}),
        (
            {"type": "input_file", "file_url": "https://a.example/a.pdf"},
            {"type": "file", "url": "https://a.example/a.pdf"},
        ),
        ({"type": "file", "url": PDF}, {"type": "file", "url": PDF}),
    ],
)
def test_a_part_is_ours(part, made):
    assert to_parts([part]) == [made]


def test_calls_of_every_kind_are_kept():
    custom = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    strange = {"id": "d", "type": "teleport", "teleport": {"to": "moon"}}

    assert openai.calls([custom, strange]) == [
        {"type": "tool-call", "tool_call_id": "c", "name": "sh", "args": "ls"},
        {"type": "teleport", "id": "d", "teleport": {"to": "moon"}},
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "role", "made"),
    [
        (
            "custom_tool_call",
            {"call_id": "c", "name": "sh", "input": "ls"},
            "assistant",
            {"type": "tool-call", "tool_call_id": "c", "name": "sh", "args": "ls"},
        ),
        (
            "custom_tool_call_output",
            {"call_id": "c", "output": "a.py"},
            "tool",
            {"type": "tool-result", "tool_call_id": "c", "result": "a.py", "is_error": False},
        ),
        ("reasoning", {"type": "reasoning", "summary": []}, "assistant", {"type": "reasoning", "summary": []}),
        ("of_tomorrow", {"type": "of_tomorrow", "x": 1}, "assistant", {"type": "of_tomorrow", "x": 1}),
    ],
)
def test_an_item_is_of_whom_its_type_implies(kind, fields, role, made):
    assert openai.item(kind, fields) == (role, made)
