"""Where words stand in a text."""

import base64
import itertools

from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.messages import Message
from om_api.recall import marking
from om_api.recall.marking import excerpt, spans
from om_api.recall.query import parse_query, query_of_text
from om_api.recall.said import said

NOW = 1_770_000_000_000


def marked(text, asked):
    found = spans(text, parse_query(asked, NOW, "UTC"))
    return [text[start:end] for start, end in found]


def test_words_are_marked_as_they_stand():
    assert marked("Two passports? One Passport!", "my passport") == ["passports", "Passport"]
    assert marked("Der Zug nach Köln ist da", "koln") == ["Köln"]
    assert marked("set user_id", "users") == ["user"]
    assert marked("set user_id", "user_id") == ["user_id"]
    assert marked("Anna's bicycle", "anna") == ["Anna's"]
    assert marked("nothing of it", "passport") == []


@given(st.text(max_size=200), st.text(max_size=40), st.integers(8, 60))
def test_marks_lie_within_any_text_in_order(text, asked, size):
    query = query_of_text(asked, NOW, "UTC")
    found = spans(text, query)

    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))
    assert len(excerpt(text, query, size)) <= max(size, min(len(text), size))


def of(*parts, role="assistant", **fields):
    return said(Message(role=role, content=list(parts), **fields))


def test_a_call_is_found_by_its_tool_by_what_it_was_given_and_by_what_these_are_called():
    args = {"city": "Lisbon", "days": [3, {"x": True}]}
    text = of({"type": "tool-call", "tool_call_id": "call_1", "name": "weather", "args": args})
    assert text.splitlines() == ["name", "weather", "args", "city", "Lisbon", "days", "3", "x", "True"]
    deep = "walnut"
    for _ in range(3_000):
        deep = [deep]
    call = {"type": "tool-call", "tool_call_id": "c", "name": "weather", "args": {"x": deep}}
    assert of(call, {"type": "text", "text": "and so"}) == "weather\nand so"


def test_a_file_is_found_by_its_name_and_its_data_by_nothing():
    data = base64.b64encode(bytes(range(256)) * 20).decode()
    text = of(
        {"type": "image", "name": "roof.png", "url": f"data:image/png;base64,{data}"},
        {"type": "file", "name": "plan.pdf", "mime": "application/pdf", "data": data},
        role="user",
    )

    assert ("roof.png" in text, "plan.pdf" in text, "application/pdf" in text) == (True, True, True)
    assert data[:40] not in text


def test_excerpt_of_a_very_long_text_searches_a_bounded_part(monkeypatch):
    searched = []
    monkeypatch.setattr(marking, "spans", lambda text, query: searched.append(len(text)) or spans(text, query))
    text = "to x " * 20_000 + "two passports, a boat " + "to y " * 20_000
    assert "two passports, a boat" in excerpt(text, parse_query("to passport boat", NOW, "UTC"), 100)
    assert searched == [32_000]
