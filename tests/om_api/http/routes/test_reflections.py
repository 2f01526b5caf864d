"""Reflections over HTTP: what they replaced, page by page, and how one is undone."""

HAROLD = "/v1/resources/harold"


def test_a_page_goes_on_behind_its_cursor_when_entries_were_removed_meanwhile(full, ask, walk):
    first = ask("GET", f"{HAROLD}/reflections/1/observations", params={"limit": 2}).json()
    names = [o.id for o in full.om.replaced(1, "harold")]
    key = f"{full.prefix}:{{harold}}:reflected:1"
    full.client.zrem(key, full.client.zrange(key, 0, 0)[0])

    rest = walk(f"{HAROLD}/reflections/1/observations", cursor=first["next"])
    assert [entry["id"] for entry in first["items"] + rest] == sorted(names)


def test_a_reflection_is_undone(old, ask):
    before = old.covering()

    assert ask("POST", f"{HAROLD}/reflections/0/restore").json() == {"outcome": "restored"}
    assert ask("POST", f"{HAROLD}/reflections/0/restore").json() == {"outcome": "restored"}
    assert ask("POST", f"{HAROLD}/reflections/1/restore").json() == {"outcome": "restored"}
    assert "no generation 9" in ask("POST", f"{HAROLD}/reflections/9/restore").json()["detail"]
    assert old.covering() == before
