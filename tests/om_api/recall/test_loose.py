"""Messages in no segment answer as those in one do."""

from hypothesis import given
from hypothesis import strategies as st

from om_api.recall.analysis import analyse
from om_api.recall.loose import Loose
from om_api.recall.segment import Findable, Segment, encode


@given(st.lists(st.text("ab cd水飲äß'_-1", max_size=30), max_size=8))
def test_loose_messages_answer_as_their_segment(texts):
    messages = [Findable(f"m{place}", "user", place * 7, text) for place, text in enumerate(texts)]
    loose, segment = Loose("t", messages), Segment(encode("t", messages))
    terms = {"*水", "absent"}.union(*(analyse(text).terms for text in texts))

    assert (loose.thread, loose.size, loose.length, loose.languages) == (
        *(segment.thread, segment.size, segment.length),
        segment.languages,
    )
    assert [*loose.lengths()] == [*segment.lengths()]
    assert [*loose.times()] == [*segment.times()]
    for place in range(loose.size):
        assert (loose.at(place), loose.role(place), loose.check(place)) == (
            *(segment.at(place), segment.role(place)),
            segment.check(place),
        )
    assert loose.postings(terms) == segment.postings(terms)
