"""About how much memory what was read takes: whatever is long weighs, wherever in a message it stands."""

from __future__ import annotations

import pytest

from om_api.domain.messages import Message
from om_api.domain.values import Observation, Stored
from om_api.store.memory import footprint

LONG = "x" * 100_000


def weight(**fields):
    return footprint.of((b"", 0.0), Message(**{"role": "user", "content": "", **fields}))


def test_a_member_weighs_what_its_bytes_do_and_its_place():
    assert footprint.of((b"x" * 500, 0.0), None) - footprint.of((b"", 0.0), None) == 500
    assert footprint.of((b"", 0.0), None) > 1_000


@pytest.mark.parametrize(
    ("fields", "times"),
    [
        ({"content": LONG}, 3),
        ({"content": [{"type": "text", "text": LONG}]}, 3),
        ({"content": [{"type": "tool-call", "id": "1", "name": "f", "args": {"a": [{"b": LONG}]}}]}, 3),
        ({"metadata": {"a": {"b": [LONG]}}}, 1),
    ],
    ids=["text", "a part", "deep in a call", "metadata"],
)
def test_what_is_said_weighs_as_often_as_it_is_rendered(fields, times):
    assert weight(**fields) - weight() == pytest.approx(times * len(LONG), rel=0.05)


def test_an_observation_weighs_its_text_and_the_names_of_its_messages():
    def of(text, ids):
        said = Observation(id="o", thread_id="t", text=text, message_ids=ids)
        return footprint.of((b"", 0.0), Stored(1.0, said, b""))

    assert of(LONG, ()) - of("", ()) == 3 * len(LONG)
    assert of("", ("m",) * 1_000) - of("", ()) >= 30_000


def test_a_hash_weighs_its_fields_and_their_values():
    assert footprint.of_hash({b"a": b"12345", b"b": b""}) == 2 * footprint.FIELD + 5
    assert footprint.of_hash({}) == 0
