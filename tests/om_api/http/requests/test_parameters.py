"""A list in pages: every entry once, and no page names an empty next one."""

import asyncio

import pytest

from om_api.http.requests.parameters import asked_page

HAROLD = "/v1/resources/harold"


@pytest.mark.parametrize(("entries", "limit", "sizes"), [(4, 2, [2, 2]), (3, 2, [2, 1]), (1, 1, [1]), (0, 1, [0])])
def test_pages_are_full_and_the_last_one_names_no_other(entries, limit, sizes):
    everything, found, cursor = [f"entry-{n}" for n in range(entries)], [], None
    for _ in sizes:
        part = asyncio.run(asked_page(cursor, limit)).of(everything, str)
        found.append(part.items)
        cursor = part.next

    assert [len(items) for items in found] == sizes
    assert [entry for items in found for entry in items] == everything
    assert cursor is None


def test_every_list_comes_in_pages_that_hold_each_entry_once(full, walk):
    om = full.om
    meant = {
        f"{HAROLD}/observations": [o.id for o in om.observations("harold")],
        f"{HAROLD}/threads/t-1/messages": [message.id for message in om.messages("harold", "t-1")],
        f"{HAROLD}/threads": [thread.id for thread in om.threads("harold")],
        f"{HAROLD}/reflections": [generation.n for generation in om.generations("harold")],
        f"{HAROLD}/reflections/1/observations": [o.id for o in om.replaced(1, "harold")],
        f"{HAROLD}/observations/{om.observations('harold')[0].id}/messages": [
            message.id for message in om.sources(om.observations("harold")[0].id, "harold")
        ],
    }
    for path, names in meant.items():
        for limit in (1, 2, 500):
            found = [entry.get("id", entry.get("n")) for entry in walk(path, limit=limit)]
            assert (sorted(found), len(found) > 0) == (sorted(names), True), path
