"""What is indexed of a chunk: a place for each member, in the order of its sorted set."""

from scene import AT, member, message

from om_api.domain.messages import Message
from om_api.recall.segment import Findable
from om_api.store.index.indexing import findable, of_messages


def test_a_member_is_indexed_by_its_id_role_time_and_words():
    assert findable([(member(1), AT + 1000)], "t1", "harold") == [Findable("m1", "user", AT + 1000, "turn 1")]


def test_a_member_that_is_no_message_keeps_its_place_and_has_no_words():
    """Catches places that slide, so that every hit behind it names its neighbour."""
    pairs = [(b"no JSON", AT), (member(1), AT + 1000), (b"\xff", float("inf")), (member(2), AT + 2000)]

    assert [each.text for each in findable(pairs, "t1", "harold")] == ["", "turn 1", "", "turn 2"]
    assert of_messages([None]) == [Findable("", "", 0, "")]


def test_messages_are_indexed_as_their_members_are():
    """A worker makes the index of the messages it read, a sweep of the members it finds: both are one."""
    call = {"type": "tool-call", "id": "c-1", "name": "weather", "args": {"city": "Lisbon"}}
    said = [message(1), Message(role="assistant", content=[call], id="m2", at=AT + 2000)]
    found = of_messages(said)

    assert found[:1] == findable([(member(1), AT + 1000)], "t1", "harold")
    assert (found[1].role, "weather" in found[1].text, "Lisbon" in found[1].text) == ("assistant", True, True)
