"""The audit trail on its page: what changed without what was only looked at, told in words."""


def test_what_only_looked_is_left_out_where_changes_are_asked_for(sign_in, world):
    world.say("Mine.", resource="harold")
    world.settle()
    who = sign_in("operator", "harold")
    who.send("/ui/agents/harold/pause")
    assert who.get("/ui/agents/harold/context").status_code == 200
    every, changes = (who.get("/ui/audit", resource="harold", did=did).text for did in ("", "changes"))

    rows = [text.partition("<tbody>")[2] for text in (every, changes)]
    assert [("What the model reads" in text, "whatever calls a model was stopped" in text) for text in rows] == [
        (True, True),
        (False, True),
    ]
    assert '<option value="changes" selected>changes only</option>' in changes
    assert 'data-exact datetime="' in changes
