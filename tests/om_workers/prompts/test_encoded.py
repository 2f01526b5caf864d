"""What nobody can read is named in a few words; what somebody can is left as it is."""

from __future__ import annotations

import base64
import random

import pytest

from om_api.tokens import estimate
from om_api.values import Message
from om_workers.prompts.encoded import HIDDEN, without_encoded, without_encrypted
from om_workers.prompts.render import format_messages

BLOB = base64.b64encode(random.Random(1).randbytes(3_000)).decode()


def test_encoded_data_is_named_by_its_size_wherever_it_stands():
    assert without_encoded(f"see ![x](data:image/png;base64,{BLOB}) here") == (
        "see ![x](data:image/png;base64,[4,000 characters of encoded data]) here"
    )


@pytest.mark.parametrize("text", [BLOB[:999], "x" * 5_000, "word " * 2_000, "1" * 3_000, "a/b" * 1_000, ""])
def test_what_may_be_read_stays(text):
    assert without_encoded(text) == text


@pytest.mark.parametrize("name", ["encryptedContent", "encrypted_content", "ENCRYPTED-REASONING", "thoughtSignature"])
def test_an_encrypted_field_is_named_and_the_rest_of_the_result_stays(name):
    assert without_encrypted([{"n": 1, name: "gAAAA"}]) == [{"n": 1, name: HIDDEN}]


def test_a_transcript_shows_neither_bytes_nor_secrets_of_a_provider():
    result = {"hits": [{"title": "Bees", "encryptedContent": BLOB}], "page": BLOB}
    part = {"type": "tool-result", "tool_call_id": "c1", "name": "web", "result": result}
    shown = format_messages(
        [Message(role="tool", content=[part], at=1), Message(role="user", content=BLOB)], "UTC", len
    )

    assert "Bees" in shown
    assert BLOB[:40] not in shown
    assert estimate(shown) < 100


@pytest.mark.parametrize("run", ["a" * 999 + " ", "A1a" * 333 + ".", "=" * 1_000])
@pytest.mark.timeout(20)
def test_long_texts_of_short_runs_do_not_make_it_hang(run):
    """Catches a search that begins again at every character of a run: minutes instead of a tenth of a second."""
    assert without_encoded(run * 20_000) == run * 20_000
