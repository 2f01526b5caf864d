"""What a message weighs: one test for each line of docs/tokens.md."""

import base64
import json

import pytest

from om_api import Message
from om_api.domain.message_tokens import count_message, count_part
from om_api.domain.wire import parse_member

PICTURE = base64.b64encode(bytes(range(256)) * 400).decode()
PLAIN = {"type": "text", "text": "four words of text"}


def words(text):
    return len(text.split())


def weight(content, **fields):
    return count_message(Message(role="user", content=content, **fields), words)


def letters(part):
    return count_part(part, len)


@pytest.mark.parametrize("content", ["four words of text", [PLAIN], [{"type": "image"}]])
def test_what_the_writer_says_is_believed_whatever_the_content(content):
    assert weight(content, tokens=77) == 77
    assert weight(content, tokens=0) == 0


def test_a_text_weighs_its_tokens_and_four_for_the_turn():
    assert weight("four words of text") == 8
    assert weight("") == 4


def test_parts_are_added_up_and_the_turn_counts_once():
    assert weight([PLAIN, PLAIN]) == 12


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "image", "url": "https://example.org/a.png"}, 765),
        ({"type": "image", "url": f"data:image/png;base64,{PICTURE}"}, 765),
        ({"type": "image", "data": PICTURE, "mime": "image/png"}, 765),
        ({"type": "image", "detail": "low"}, 85),
        ({"type": "image", "tokens": 1120}, 1120),
        ({"type": "image", "detail": "low", "tokens": 0}, 0),
        ({"type": "image", "tokens": -1}, 765),
        ({"type": "image", "tokens": "many"}, 765),
        ({"type": "image", "tokens": True}, 765),
        ({"type": "image", "tokens": 10**12}, 765),
        ({"type": "file", "name": "report.pdf", "data": PICTURE}, 765),
        ({"type": "file", "name": "report.pdf", "tokens": 4000}, 4000),
        ({"type": "file", "detail": "low"}, 765),
    ],
)
def test_an_image_or_file_weighs_a_fixed_number_unless_it_says_its_own(part, tokens):
    assert weight([part]) == 4 + tokens


@pytest.mark.parametrize("key", ["args", "result"])
def test_what_a_tool_is_given_and_gives_weighs_four_and_its_json(key):
    part = {"type": "tool-call" if key == "args" else "tool-result", "tool_call_id": "c1", key: {"said": "ten words"}}

    assert letters(part) == 4 + len(json.dumps(part, separators=(",", ":")))


@pytest.mark.parametrize(
    "result",
    [
        f"data:image/png;base64,{PICTURE}",
        [{"type": "image", "data": PICTURE, "mimeType": "image/png"}],
        [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}],
        {"content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}]},
    ],
    ids=["a url", "as MCP writes it", "as OpenAI writes it", "as Anthropic writes it"],
)
def test_data_in_base64_that_a_tool_gives_is_weighed_by_its_name(result):
    part = {"type": "tool-result", "tool_call_id": "c1", "result": result}

    assert letters(part) < 200 < len(PICTURE)


@pytest.mark.parametrize(
    "result",
    ["x" * 1000, {"next_page_token": PICTURE[:600]}, {"mimeType": "text/plain", "text": "x" * 1000}, "data: " * 200],
)
def test_a_long_text_that_is_no_data_is_weighed_as_the_text_it_is(result):
    assert letters({"type": "tool-result", "result": result}) > 600


def test_a_plain_writers_count_is_believed_by_either_name():
    members = [b'{"role":"user","content":"hello","tokenCount":9}', b'{"role":"user","content":"hello","tokens":9}']

    assert [count_message(parse_member(member, "t", "r", 1e12), words) for member in members] == [9, 9]
