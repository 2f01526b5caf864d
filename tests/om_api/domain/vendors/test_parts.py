"""Parts of any vendor become ours, and parts of ours stay the very objects they were; making them ours twice changes nothing."""

from google.genai import types

from om_api.domain.vendors import openai
from om_api.domain.vendors.gemini import part as gemini_part
from om_api.domain.vendors.ours import arguments
from om_api.domain.vendors.parts import to_parts
from om_api.domain.wire import message_of

TEXT = {"type": "text", "text": "x"}


def one(part):
    (made,) = to_parts([part])
    assert to_parts([made])[0] is made
    return made


def test_to_parts_leaves_out_marks_of_one_request_and_joins_results():
    for part, made in [
        ({**TEXT, "cache_control": {"type": "ephemeral"}, "citations": None, "annotations": []}, TEXT),
        ({"type": "text"}, {"type": "text"}), ({"type": "text", "text": None}, {"type": "text", "text": ""}),
        ({"type": "output_text", "text": None}, {"type": "text", "text": ""}),
        ({"type": "tool-call", "toolCallId": "a", "args": None}, {"type": "tool-call", "tool_call_id": "a"}),
        ({"type": "web_search_tool_result", "content": [1], "cache_control": None},
         {"type": "web_search_tool_result", "content": [1]}),
    ]:  # fmt: skip
        assert one(part) == made, (part, made)
    texts = [TEXT, {"type": "text", "text": "y"}]
    image = {"type": "image", "source": {"type": "url", "url": "https://a.example/i.png"}}
    asked = {"type": "tool_result", "tool_use_id": "a"}
    assert one({**asked, "content": texts})["result"] == "x\ny"
    assert one({**asked, "content": [TEXT, image]})["result"] == [
        TEXT, {"type": "image", "url": "https://a.example/i.png"}]  # fmt: skip
    assert one({**asked, "content": []})["result"] == []
    assert one(asked)["result"] == ""


URL = "https://a.example/i.png"
PDF = "data:application/pdf;base64,AAAA"


def test_a_part_is_ours_and_calls_of_every_kind_are_kept():
    for part, made in [
        ({"type": "input_text", "text": "x"}, {"type": "text", "text": "x"}),
        ({"type": "output_text", "text": "x", "annotations": [], "logprobs": None}, {"type": "text", "text": "x"}),
        ({"type": "refusal", "refusal": "no"}, {"type": "text", "text": "no"}),
        ({"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
         {"type": "image", "url": URL, "detail": "low"}),
        ({"type": "image_url", "image_url": URL}, {"type": "image", "url": URL}),
        ({"type": "input_image", "image_url": URL, "detail": "auto", "file_id": None},
         {"type": "image", "url": URL, "detail": "auto"}),
        ({"type": "input_image", "file_id": "f-1"}, {"type": "image", "file_id": "f-1"}),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
         {"type": "file", "url": "data:audio/mp3;base64,AAAA", "mime": "audio/mp3"}),
        ({"type": "input_audio", "input_audio": 5}, {"type": "input_audio", "input_audio": 5}),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
         {"type": "file", "url": PDF, "name": "a.pdf"}),
        ({"type": "file", "file": {"file_id": "f-1"}}, {"type": "file", "file_id": "f-1"}),
        ({"type": "input_file", "file_url": "https://a.example/a.pdf"},
         {"type": "file", "url": "https://a.example/a.pdf"}),
        ({"type": "file", "url": PDF}, {"type": "file", "url": PDF}),
    ]:  # fmt: skip
        assert to_parts([part]) == [made], (part, made)
    custom = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    call = {"type": "tool-call", "tool_call_id": "c", "name": "sh", "args": "ls"}
    strange = {"id": "d", "type": "teleport", "teleport": {"to": "moon"}}
    assert openai.calls([custom, strange]) == [call, strange]
    assert openai.item("custom_tool_call", {"call_id": "c", "name": "sh", "input": "ls"}) == ("assistant", call)


def source(kind, **fields):
    return {"source": {"type": kind, **fields}}


def test_a_block_is_ours_and_what_is_not_known_stays():
    for block, made in [
        ({"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}, "caller": None},
         {"type": "tool-call", "tool_call_id": "t", "name": "f", "args": {"a": 1}}),
        ({"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": True},
         {"type": "tool-result", "tool_call_id": "t", "result": "x", "is_error": True}),
        ({"type": "image", **source("base64", media_type="image/png", data="AAAA")},
         {"type": "image", "url": "data:image/png;base64,AAAA", "mime": "image/png"}),
        ({"type": "image", **source("file", file_id="f-1")}, {"type": "image", "file_id": "f-1"}),
        ({"type": "document", "title": "a.pdf", **source("url", url="https://a.example/a.pdf")},
         {"type": "file", "url": "https://a.example/a.pdf", "name": "a.pdf"}),
        ({"type": "document", "title": "notes", **source("text", media_type="text/plain", data="said")},
         {"type": "text", "text": "said", "name": "notes"}),
        ({"type": "document", **source("content", content=[])}, {"type": "document", **source("content", content=[])}),
        ({"type": "document"}, {"type": "document"}),
        ({"type": "image", "url": "https://a.example/i.png"}, {"type": "image", "url": "https://a.example/i.png"}),
        ({"type": "redacted_thinking", "data": "AAAA"}, {"type": "redacted_thinking", "data": "AAAA"}),
    ]:  # fmt: skip
        assert to_parts([block]) == [made], (block, made)


PARTS = [
    (types.Part(text="x"), {"type": "text", "text": "x"}),
    (types.Part(text="hm", thought=True), {"type": "reasoning", "text": "hm"}),
    (types.Part(function_call=types.FunctionCall(name="f", args={"a": 1}), thought_signature=b"\xff\xfeab"),
     {"type": "tool-call", "name": "f", "args": {"a": 1}, "thought_signature": "//5hYg=="}),
    (types.Part(function_call=types.FunctionCall(id="c", name="f")),
     {"type": "tool-call", "tool_call_id": "c", "name": "f", "args": {}}),
    (types.Part.from_function_response(name="f", response={"result": 4}),
     {"type": "tool-result", "name": "f", "result": {"result": 4}, "is_error": False}),
    (types.Part.from_function_response(name="f", response={"error": "no"}),
     {"type": "tool-result", "name": "f", "result": "no", "is_error": True}),
    (types.Part.from_bytes(data=b"\xff\xfeab", mime_type="image/png"),
     {"type": "image", "url": "data:image/png;base64,//5hYg==", "mime": "image/png"}),
    (types.Part.from_uri(file_uri="gs://b/a.pdf", mime_type="application/pdf"),
     {"type": "file", "url": "gs://b/a.pdf", "mime": "application/pdf"}),
    (types.Part(executable_code=types.ExecutableCode(code="1+1", language="PYTHON")),
     {"type": "executable_code", "executable_code": {"code": "1+1", "language": "PYTHON"}}),
]  # fmt: skip


def forms(content):
    yield content
    yield content.model_dump()
    yield content.model_dump(mode="json", exclude_none=True)
    yield content.model_dump(mode="json", by_alias=True)


def test_a_part_is_ours_however_it_was_dumped():
    for written, made in PARTS:
        found = [message_of(form) for form in forms(types.Content(role="model", parts=[written]))]
        assert [(one.role, _without_nulls(one.content)) for one in found] == [("assistant", [made])] * 4, written


def _without_nulls(value):
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def test_a_part_that_nobody_knows_is_called_by_its_field():
    for written, made in [
        ({}, {"type": "unknown"}), ({"ofTomorrow": {"x": 1}}, {"type": "of_tomorrow", "of_tomorrow": {"x": 1}}),
        ({"type": 7, "x": 1}, {"type": "x", "x": 1}),
        ({"thoughtSignature": "AAAA"}, {"type": "unknown", "thought_signature": "AAAA"}),
        ({"functionCall": 5}, {"type": "tool-call", "name": "", "args": {}}),
        ({"text": "", "thoughtSignature": ""}, {"type": "text", "text": ""}),
        ({"functionResponse": {"name": "f", "response": {}, "parts": [{"inlineData": {}}]}},
         {"type": "tool-result", "name": "f", "result": {}, "is_error": False, "parts": [{"inlineData": {}}]}),
    ]:  # fmt: skip
        assert gemini_part(written) == made, (written, made)


def test_arguments_that_are_no_json_are_kept_as_the_model_wrote_them():
    for written, read in [
        ('{"at": 1}', {"at": 1}), ('{"at": ', '{"at": '), ("", {}), (" ", {}), (None, {}), ({"a": 1}, {"a": 1}),
        ("[" * 9_999, "[" * 9_999),
    ]:  # fmt: skip
        assert arguments(written) == read, (written, read)
