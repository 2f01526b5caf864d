"""A large answer in pieces is, to the byte, what it would be as a whole."""

from __future__ import annotations

import msgspec
import pytest

from om_api.http.requests import pieces


@pytest.mark.parametrize(
    "value",
    [None, 1.5, "x" * 200, ["é" * 200, []], {"a": {}, "b": ["x", {"c": None}]}, (1, 2), {"\u2028": "\u2028\x01" * 99}],
)
def test_pieces_are_the_bytes_of_the_whole(value, monkeypatch):
    monkeypatch.setattr(pieces, "_PIECE", 50)
    found = pieces.pieces(value)

    assert b"".join(found) == msgspec.json.encode(value)
    assert max(map(len, found)) < 800
