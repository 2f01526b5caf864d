"""What nobody can read is named in a few words; what somebody can is left as it is."""

import base64
import random
import struct

import pytest

from om_api.domain.messages import Message
from om_api.domain.tokens import estimate
from om_workers.prompts.encoded import HIDDEN, without_encoded, without_encrypted
from om_workers.prompts.transcript import format_messages

BLOB = base64.b64encode(random.Random(1).randbytes(3_000)).decode()


def test_encoded_data_is_named_by_its_size_wherever_it_stands():
    assert without_encoded(f"see ![x](data:image/png;base64,{BLOB}) here") == (
        "see ![x](data:image/png;base64,[4,000 characters of encoded data]) here"
    )


@pytest.mark.parametrize("text", [BLOB[:999], "x" * 5_000, "word " * 2_000, "1" * 3_000, "a/b" * 1_000, ""])
def test_what_may_be_read_stays(text):
    assert without_encoded(text) == text


def test_a_thousand_characters_in_a_row_are_named():
    assert without_encoded(BLOB[:1_000]) == "[1,000 characters of encoded data]"


JOINED = {
    "by underscores": "Cancel_card_1234_by_Friday_" + "and_" * 300,
    "by hyphens": "Cancel-card-1234-by-Friday-" * 50,
    "shouted": "CANCEL_CARD_1234_BY_FRIDAY_please_" * 40,
    "paths": "src/components/UserProfile/index2/" * 40,
    "dates": "2025-11-22T09_15_Started/" * 50,
    "one word with digits among many": "the_meeting_is_in_room_B12_today_" * 40,
}


@pytest.mark.parametrize("text", JOINED.values(), ids=JOINED.keys())
def test_words_that_are_joined_are_no_data(text):
    """Catches what somebody asked for being named as so many characters of data, because no blank stands in it."""
    assert without_encoded(f"please: {text}") == f"please: {text}"


def test_what_is_half_words_stays_and_what_is_less_is_named():
    half, less = "Meeting_b12x4_" * 72, "Meeting_b12x45_" * 72

    assert without_encoded(half) == half
    assert without_encoded(less) == "[1,080 characters of encoded data]"


def _data(seed):
    drawn = random.Random(seed)
    return {
        "random": drawn.randbytes(1_500),
        "zeros": bytes(1_500) + drawn.randbytes(60),
        "quiet sound": b"".join(drawn.choice([-1, 0, 1]).to_bytes(2, "little", signed=True) for _ in range(1_500)),
        "numbers": b"".join(struct.pack("<f", drawn.choice([0.5, 1, 2])) for _ in range(800)),
        "a text": b"The quick brown fox jumps over the lazy dog. " * 40,
        "pixels": b"\xff\xff\xfe\xff" * 400 + drawn.randbytes(40),
    }


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("kind", _data(0))
def test_data_of_every_kind_is_named(encode, kind):
    """Catches a rule for words that takes what a file encodes to for words as well."""
    for seed in range(20):
        text = encode(_data(seed)[kind]).decode()
        assert without_encoded(text) == f"[{len(text):,} characters of encoded data]"


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
