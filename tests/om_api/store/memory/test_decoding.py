"""What Redis replies, as values: fields that are missing have defaults, those that nobody knows are left alone."""

import pytest

from om_api.store.memory import decoding

PLAIN = b'{"id":"m","role":"user","content":"hi","tokens":3}'
PARTS = b'{"id":"p","role":"user","content":[{"type":"text","text":"hi"}]}'
MARKED = b'{"id":"k","role":"user","content":"hi","metadata":{"a":1}}'


@pytest.mark.parametrize("said", [PLAIN, PARTS, MARKED])
def test_who_changes_a_message_that_was_met_changes_nobody_elses(said):
    first = decoding.parsed_once((said, 1.0), "t", "r")
    first.content = [{"type": "text", "text": "else"}] if isinstance(first.content, str) else first.content
    for part in first.content:
        part["text"] = "else"
    if first.metadata:
        first.metadata["a"] = 2
    assert decoding.parsed_once((said, 1.0), "t", "r") == decoding.message_of((said, 1.0), "t", "r")
