"""What a message says, as it is looked up: everything that somebody may remember of it, and nothing that nobody would."""

import base64

import pytest

from om_api.domain.messages import Message
from om_api.recall.said import said


def of(*parts, role="assistant", **fields):
    return said(Message(role=role, content=list(parts), **fields))


def test_text_is_said_as_it_is():
    assert said(Message(role="user", content="Tea, please.\nNo milk.")) == "Tea, please.\nNo milk."
    assert of({"type": "text", "text": "one"}, {"type": "text", "text": "two"}) == "one\ntwo"
    assert said(Message(role="user", content="")) == ""


def test_who_said_it_is_looked_up_too():
    assert said(Message(role="user", content="hello", name="Anna")) == "Anna: hello"


def test_a_call_is_found_by_its_tool_by_what_it_was_given_and_by_what_these_are_called():
    text = of(
        {
            "type": "tool-call",
            "tool_call_id": "call_1",
            "name": "weather",
            "args": {"city": "Lisbon", "days": [3, {"x": True}]},
        }
    )

    assert text.splitlines() == ["name", "weather", "args", "city", "Lisbon", "days", "3", "x", "True"]


def test_a_call_whose_arguments_are_text_is_found_by_it():
    assert "Lisbon" in of({"type": "tool-call", "tool_call_id": "c", "name": "weather", "args": '{"city": "Lisbon"}'})


@pytest.mark.parametrize(
    "result", ["rain in Lisbon", {"sky": "rain in Lisbon"}, ["rain in Lisbon", None], [[["rain in Lisbon"]]]]
)
def test_a_result_is_found_by_all_that_it_gave(result):
    text = of({"type": "tool-result", "tool_call_id": "call_1", "name": "weather", "result": result}, role="tool")

    assert "rain in Lisbon" in text
    assert "call_1" not in text
    assert "None" not in text


def test_a_file_is_found_by_its_name_and_its_data_by_nothing():
    data = base64.b64encode(bytes(range(256)) * 20).decode()
    text = of(
        {"type": "image", "name": "roof.png", "url": f"data:image/png;base64,{data}"},
        {"type": "file", "name": "plan.pdf", "mime": "application/pdf", "data": data},
        role="user",
    )

    assert ("roof.png" in text, "plan.pdf" in text, "application/pdf" in text) == (True, True, True)
    assert data[:40] not in text


def test_a_part_that_we_cannot_show_is_found_by_what_it_says():
    assert "walnut" in of({"type": "server_tool_use", "input": {"q": "walnut"}})


def test_what_nests_a_thousand_lists_is_found_by_its_name():
    deep = "walnut"
    for _ in range(3_000):
        deep = [deep]
    text = of(
        {"type": "tool-call", "tool_call_id": "c", "name": "weather", "args": {"x": deep}},
        {"type": "text", "text": "and so"},
    )

    assert text == "weather\nand so"
