"""A list in pages: every entry once, and no page names an empty next one."""

from __future__ import annotations

import pytest

from om_api.http.pages import page


@pytest.mark.parametrize(("entries", "limit", "sizes"), [(4, 2, [2, 2]), (3, 2, [2, 1]), (1, 1, [1]), (0, 1, [0])])
def test_pages_are_full_and_the_last_one_names_no_other(entries, limit, sizes):
    everything, found, cursor = [f"entry-{n}" for n in range(entries)], [], None
    for _ in sizes:
        part = page(everything, str, cursor, limit)
        found.append(part.items)
        cursor = part.next

    assert [len(items) for items in found] == sizes
    assert [entry for items in found for entry in items] == everything
    assert cursor is None
