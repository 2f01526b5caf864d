"""Parts of any vendor become ours, and parts of ours stay the very objects they were; making them ours twice changes nothing."""

import pytest

from om_api.domain.vendors.parts import to_parts

TEXT = {"type": "text", "text": "x"}


def one(part):
    (made,) = to_parts([part])
    assert to_parts([made])[0] is made
    return made


@pytest.mark.parametrize(
    "part",
    [
        TEXT,
        {"text": "x", "type": "text", "annotations": [{"url": "https://a.example"}]},
        {"type": "tool-call", "tool_call_id": "a", "name": "f", "args": {}},
        {"type": "tool-call", "args": 1, "count": True},
        {"type": "tool-result", "tool_call_id": "a", "result": [{"type": "tool_use"}], "is_error": False},
        {"type": "image", "url": "https://a.example/i.png", "detail": "low", "tokens": 5},
        {"type": "file", "url": "https://a.example/a.pdf"},
        {"type": "thinking", "thinking": "hm", "signature": "abcd"},
        {"type": "server_tool_use", "id": "s-1", "input": {"q": 1}},
        {"type": "tool_result_of_tomorrow"},
    ],
)
def test_what_is_ours_or_unknown_stays(part):
    given = [TEXT, part]

    assert to_parts(given) is given


def test_a_text_may_stand_alone_and_what_is_no_part_is_left_for_who_refuses():
    assert to_parts(["x", 5]) == [TEXT, 5]
    assert to_parts([None, TEXT]) == [TEXT]


@pytest.mark.parametrize(
    ("part", "made"),
    [
        ({**TEXT, "cache_control": {"type": "ephemeral"}, "citations": None, "annotations": []}, TEXT),
        ({"type": "text"}, {"type": "text"}),
        ({"type": "text", "text": None}, {"type": "text", "text": ""}),
        ({"type": "output_text", "text": None}, {"type": "text", "text": ""}),
        ({"type": "tool-call", "toolCallId": "a", "args": None}, {"type": "tool-call", "tool_call_id": "a"}),
        (
            {"type": "web_search_tool_result", "content": [1], "cache_control": None},
            {"type": "web_search_tool_result", "content": [1]},
        ),
    ],
)
def test_a_mark_of_one_request_and_what_is_null_are_no_part_of_what_was_said(part, made):
    assert one(part) == made


def test_a_result_of_texts_is_one_text_and_of_others_its_parts():
    texts = [TEXT, {"type": "text", "text": "y"}]
    image = {"type": "image", "source": {"type": "url", "url": "https://a.example/i.png"}}
    asked = {"type": "tool_result", "tool_use_id": "a"}

    assert one({**asked, "content": texts})["result"] == "x\ny"
    assert one({**asked, "content": [TEXT, image]})["result"] == [
        TEXT,
        {"type": "image", "url": "https://a.example/i.png"},
    ]
    assert one({**asked, "content": []})["result"] == []
    assert one(asked)["result"] == ""
