"""A model tells another memory something by a tool, where its key is bound to both."""


def test_a_note_stands_in_the_other_memory_once(world, having):
    host = having("writer", "harold", "albert")
    said = {"resource_id": "harold", "share_with": "albert", "text": "We ship in May."}
    first, again = host("share_note", **said), host("share_note", **said)
    (note,) = world.om.observations("albert")

    assert "now" in first.text
    assert "already" in again.text
    assert "We ship in May." in note.text
    assert (note.origin, note.by, note.thread_id) == ("added", "harold", "harold")


def test_a_key_that_is_not_bound_to_the_other_memory_is_refused(world, having):
    answer = having("writer", "harold")("share_note", share_with="albert", text="We ship in May.")

    assert answer.failed
    assert "share_with can be no other" in answer.text
    assert world.om.observations("albert") == []


def test_others_notes_are_read_where_the_key_is_bound_to_them(world, having):
    world.say("the vault is blue", resource="albert")
    world.om.force_observe("t-1", "albert")
    world.settle()
    for bound, refused in ((("harold", "albert"), False), (("harold",), True)):
        host, own = having("reader", *bound), {"resource_id": "harold", "also": ["albert"]}
        for answer in (host("get_context", thread_id="t-1", **own), host("recall", query="vault", **own)):
            assert (answer.failed, "vault is blue" in answer.text) == (refused, not refused), bound
