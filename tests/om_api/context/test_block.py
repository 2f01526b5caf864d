from __future__ import annotations

import re

from snapshots import context, full


def test_a_hash_names_a_text_by_sixteen_hex_digits():
    first, second = (context(full(text)).blocks for text in ("one", "two"))

    assert all(re.fullmatch("[0-9a-f]{16}", block.hash) for block in first)
    assert first[0].hash == second[0].hash
    assert first[1].hash != second[1].hash
