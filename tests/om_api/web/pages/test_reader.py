"""Who looks at a memory by the pages serves no context by that, and is told where there is none."""


def test_a_context_that_was_looked_at_counts_as_none_that_was_served(app, world, sign_in):
    world.say("Mine.")
    who = sign_in("reader", "harold")
    for _ in range(3):
        assert "Mine." in who.get("/ui/agents/harold/context").text
    app.portal.call(app.app.state.pages.tell)
    looked_at = world.om.costs("harold").contexts
    world.context()
    world.om.tell()

    assert (looked_at, world.om.costs("harold").contexts) == (0, 1)


def test_where_nothing_is_kept_the_page_says_so_and_what_to_look_at(sign_in):
    answer = sign_in("reader", "harold").get("/ui/agents/harold")

    assert answer.status_code == 404
    assert "Nothing is kept of harold: check the name" in answer.text
