"""Reflections over HTTP: what they replaced, page by page, and how one is undone."""

from refusals import problem

from om_api.domain.values import Generation
from om_api.http.routes import reflections

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
    assert "no generation 9" in problem(ask("POST", f"{HAROLD}/reflections/9/restore"), 404)["detail"]
    assert old.covering() == before


def test_generations_of_several_threads_that_were_made_at_once_have_a_place_each():
    made = [Generation(n=1, text=text, tokens=1, created_at=5) for text in ("of t-1", "of t-2")]

    assert len({reflections._place(each) for each in made}) == 2
