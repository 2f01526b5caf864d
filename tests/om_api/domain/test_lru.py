"""A table of what was used last is bounded in entries and in weight."""

from __future__ import annotations

import pytest

from om_api.domain.lru import LRU


@pytest.mark.parametrize(("most", "heaviest"), [(10, 0), (1_000, 100)])
def test_a_table_forgets_what_was_not_used_for_longest(most, heaviest):
    table = LRU(most, heaviest)
    for n in range(10 * most):
        table.put(n, str(n), 10)
        table.get(0)

    assert len(table) == 10
    assert table.weight == 100
    assert list(table) == [*range(10 * most - 9, 10 * most), 0]
