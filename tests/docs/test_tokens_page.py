"""What docs/tokens.md says is what the code counts."""

import re
from pathlib import Path

import pytest

from om_api.domain import tokens
from om_api.domain.media import _TYPES, LEAST
from om_api.domain.message_tokens import IMAGE, IMAGE_IN_LOW_DETAIL, TURN, count_message
from om_api.domain.messages import PART_TYPES, Message

PAGE = (Path(__file__).parents[2] / "docs" / "tokens.md").read_text()
ROWS = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE))


def weight(part):
    return count_message(Message(role="user", content=[part]), len) - TURN


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("`image`", {"type": "image"}),
        ("`image` with `detail: low`", {"type": "image", "detail": "low"}),
        ("`file`", {"type": "file"}),
    ],
)
def test_the_fixed_weights_are_those_of_the_code(row, part):
    assert ROWS[row] == str(weight(part))


def test_every_type_of_part_is_weighed_by_a_row_and_others_by_their_names():
    named = set(re.findall(r"`([a-z_-]+)`", " ".join(ROWS))) - {"tokens", "tokenizer", "auto", "estimate"}

    assert named == set(PART_TYPES)
    assert weight({"type": "server_tool_use", "input": {"q": "x" * 999}}) == TURN + len("[server_tool_use]")
    assert ROWS["a part of any other type"].startswith(f"{TURN}, ")


def test_of_thoughts_the_words_weigh_that_are_sent_again():
    signed = {"type": "thinking", "thinking": "x" * 50, "signature": "AAAA" * 99}

    assert weight(signed) == TURN + 50
    assert weight({**signed, "signature": ""}) == TURN
    assert weight({"type": "reasoning", "text": "x" * 50}) == TURN
    assert weight({"type": "redacted_thinking", "data": "AAAA" * 99}) == TURN


def test_the_numbers_in_the_text_are_those_of_the_code():
    assert ROWS["any other message"].startswith(f"{TURN} for the turn")
    assert ROWS["`tool-call`, `tool-result`"].startswith(f"{TURN}, ")
    assert f"{IMAGE} is what" in PAGE
    assert f"{IMAGE_IN_LOW_DETAIL} and four tiles of 170" in PAGE
    assert IMAGE_IN_LOW_DETAIL + 4 * 170 == IMAGE
    assert f"a string of {LEAST} characters" in PAGE
    assert f"the last {tokens.REMEMBERED:,} texts" in " ".join(PAGE.split())
    assert re.findall(r"`(\w+)`", PAGE.partition("media type: ")[2].partition(")")[0]) == list(_TYPES)


def test_every_tokenizer_has_its_row():
    assert [name.strip("`") for name in ROWS if name.strip("`") in {*tokens.KINDS}] == list(tokens.KINDS)
