"""A thread's title and whether it is archived, on an agent's page."""

AT = "/ui/agents/harold/threads"


def test_a_thread_is_named_and_archived(sign_in, world):
    world.say("one", thread="a")
    who = sign_in("writer", "harold")
    named = who.send(f"{AT}/title", {"thread": "a", "title": "The <roof>"})
    hidden = who.send(f"{AT}/archive", {"thread": "a", "archived": "yes"})
    (state,) = world.om.threads("harold", archived=True)

    assert (named.status_code, hidden.status_code, state.title) == (303, 303, "The <roof>")
    shown = who.get("/ui/agents/harold?thread=a").text
    assert "The &lt;roof&gt; (archived)" in shown
    assert "Unarchive" in shown
    who.send(f"{AT}/archive", {"thread": "a", "archived": "no"})
    assert world.om.threads("harold")[0].archived_at == 0
