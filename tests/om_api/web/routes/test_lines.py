"""Lines by hand on the pages: what is refused is shown again, and what changed nothing is said and told as that."""

import pytest

AT = "/ui/agents/harold/lines"


@pytest.fixture
def who(sign_in, world):
    world.om.add_line("User never flies", "harold", "t-1")
    return sign_in("operator", "harold")


def test_a_line_that_says_so_already_is_not_called_corrected(who, world):
    answer = who.send(f"{AT}/correct", {"was": "User never flies", "now": "User never flies"})
    assert answer.status_code == 303
    assert "already" in answer.headers["set-cookie"]
    newest = world.om.audit(count=1).entries[0]
    assert (newest.did, newest.ended) == ("line_corrected", "rest")


def test_what_was_typed_and_refused_is_shown_again_with_the_way_back_to_our_pages_only(who):
    line = {"was": "User owns a boat", "now": "Two <b>boats"}
    before = {"referer": "http://127.0.0.1:8000/ui/agents/harold?thread=t-1"}
    answer = who.send(f"{AT}/correct", line, headers=before)
    assert answer.status_code == 404
    assert "Two &lt;b&gt;boats" in answer.text
    assert 'href="/ui/agents/harold?thread=t-1"' in answer.text
    for before in ("https://elsewhere.example/ui/agents", "http://127.0.0.1:8000/v1/x", "::", "http://[::1/ui/", ""):
        answer = who.send(f"{AT}/correct", line, headers={"referer": before})
        assert "Back to the page before" not in answer.text, before
        assert "Go to the agents" in answer.text, before


def test_a_line_is_added_pinned_let_go_and_taken_back(who, world):
    who.send(AT, {"thread": "t-1", "text": "User owns a boat"})
    added, line = world.om.observations("harold")[-1], {"was": "User owns a boat"}
    who.send("/ui/agents/harold/pins", line)
    shown = who.get("/ui/agents/harold").text
    (pin,) = world.om.pins("harold")
    who.send("/ui/agents/harold/pins/remove", line)
    who.send(f"/ui/agents/harold/observations/{added.id}/undo")

    assert (added.origin, "owns a boat" in shown) == ("added", True)
    assert (pin.text.endswith("User owns a boat"), pin.by == added.by != "") == (True, True)
    assert (world.om.pins("harold"), len(world.om.observations("harold"))) == ([], 1)
