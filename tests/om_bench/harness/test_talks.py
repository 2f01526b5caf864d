import pytest

from om_api.domain.errors import InvalidInputError
from om_bench.harness.talks import read_json, read_text, seen, turn


@pytest.mark.parametrize(
    ("holds", "says"),
    [
        (None, "name a file that can be read"),
        (b"\xff", "not UTF-8"),
        (b"{", "not JSON"),
        (b"[" * 200_000, "too deeply"),
    ],
    ids=["nothing", "no text", "no JSON", "too deep"],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, holds, says):
    file = tmp_path / "talk.json"
    if holds is not None:
        file.write_bytes(holds)

    with pytest.raises(InvalidInputError, match=rf"talk\.json: .*{says}"):
        read_json(file)


def test_what_can_be_read_is_given_as_it_stands(tmp_path):
    file = tmp_path / "talk.json"
    file.write_text('{"said": "Grüße"}', encoding="utf-8")

    assert (read_text(file), read_json(file)) == ('{"said": "Grüße"}', {"said": "Grüße"})


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("9 AM", "9 AM"),
        ([{"type": "text", "text": "Look:"}, {"type": "image", "url": "a.png"}], "Look:"),
        (
            [{"type": "tool-call", "tool_call_id": "c", "name": "ferries", "args": {"day": "May 7"}}],
            "ferries day May 7",
        ),
        (
            [
                {
                    "type": "tool-result",
                    "tool_call_id": "c",
                    "name": "ferries",
                    "result": {"seats": [4, None], "open": True},
                }
            ],
            "seats 4\nnull\nopen true",
        ),
    ],
    ids=["text", "parts", "call", "result"],
)
def test_what_tools_ask_and_answer_is_seen_of_a_message_too(content, shown):
    assert seen(turn("m", "assistant", content, 1_741_593_600_000, "talk")) == shown
