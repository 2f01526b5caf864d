"""What Anthropic's blocks become."""

import pytest

from om_api.domain.vendors.parts import to_parts


def source(kind, **fields):
    return {"source": {"type": kind, **fields}}


@pytest.mark.parametrize(
    ("block", "made"),
    [
        (
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}, "caller": None},
            {"type": "tool-call", "tool_call_id": "t", "name": "f", "args": {"a": 1}},
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": True},
            {"type": "tool-result", "tool_call_id": "t", "result": "x", "is_error": True},
        ),
        (
            {"type": "image", **source("base64", media_type="image/png", data="AAAA")},
            {"type": "image", "url": "data:image/png;base64,AAAA", "mime": "image/png"},
        ),
        ({"type": "image", **source("file", file_id="f-1")}, {"type": "image", "file_id": "f-1"}),
        (
            {"type": "document", "title": "a.pdf", **source("url", url="https://a.example/a.pdf")},
            {"type": "file", "url": "https://a.example/a.pdf", "name": "a.pdf"},
        ),
        (
            {"type": "document", "title": "notes", **source("text", media_type="text/plain", data="said")},
            {"type": "text", "text": "said", "name": "notes"},
        ),
        ({"type": "document", **source("content", content=[])}, {"type": "document", **source("content", content=[])}),
        ({"type": "document"}, {"type": "document"}),
        ({"type": "image", "url": "https://a.example/i.png"}, {"type": "image", "url": "https://a.example/i.png"}),
        ({"type": "redacted_thinking", "data": "AAAA"}, {"type": "redacted_thinking", "data": "AAAA"}),
    ],
)
def test_a_block_is_ours_and_what_is_not_known_stays(block, made):
    assert to_parts([block]) == [made]
