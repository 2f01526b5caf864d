"""The index of what arrives: of each chunk's messages in their order, and of none that came in parts."""

from scene import AT, member

from om_api.recall.segment import Segment, encode
from om_api.store.backup.arriving_segments import ArrivingSegments
from om_api.store.index.indexing import findable


def pair(n, thread="t1"):
    return member(n, thread), AT + n * 1000


def arrived(*lines):
    """Each line: chunk, thread, pair, and until when."""
    arriving = ArrivingSegments("harold")
    for chunk, thread, each, *until in lines:
        arriving.take(chunk, thread, each, *until)
    return {made.chunk: made for made in arriving.all()}


def test_a_chunk_gets_the_segment_of_its_messages_and_their_lifetime():
    made = arrived(("c1", "t1", pair(1)), ("c1", "t1", pair(2)), ("o1", "t2", pair(31, "t2"), 99))

    assert made.keys() == {"c1", "o1"}
    assert made["c1"].words == encode("t1", findable([pair(1), pair(2)], "t1", "harold"))
    assert (made["c1"].until, made["o1"].until) == (0, 99)
    assert Segment(made["o1"].words).thread == "t2"


def test_places_are_those_of_the_sorted_set_by_score_and_then_by_bytes():
    """Lines may come in any order; Redis orders members of one score by their bytes."""
    same = (member(1), AT + 2000)
    given = [pair(3), (member(2), AT + 2000), same]
    made = arrived(*(("c1", "t1", each) for each in given))

    assert made["c1"].words == encode("t1", findable([same, (member(2), AT + 2000), pair(3)], "t1", "harold"))


def test_of_a_chunk_that_comes_in_parts_none_is_made():
    """Catches a segment of the last part alone, in which every place is another message's."""
    made = arrived(("c1", "t1", pair(1)), ("c2", "t1", pair(2)), ("c1", "t1", pair(3)))

    assert made.keys() == {"c2"}
    assert arrived(("c1", "t1", pair(1)), ("c1", "t1", pair(2), 5)) == {}


def test_nothing_that_came_has_no_index():
    assert arrived() == {}
