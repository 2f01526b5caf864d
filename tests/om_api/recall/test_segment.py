"""Segments: what was encoded is found in them."""

from collections import Counter

import pytest
from forged_segments import FORGED, forged
from hypothesis import given
from hypothesis import strategies as st

from om_api.recall.analysis import analyse
from om_api.recall.loose import Loose
from om_api.recall.segment import Findable, Segment, check_of, encode, is_broken
from om_api.recall.segment_format import MAGIC, SegmentError, version_of

MESSAGES = [
    Findable("m1", "user", 1_700_000_000_000, "My passport is in the blue drawer"),
    Findable("m2", "assistant", 1_700_000_000_500, "Noted: the blue, blue drawer."),
    Findable("m3", "user", 1_700_086_400_000, "Der Zug nach 東京駅 ist pünktlich und die Reise ist lang"),
]


def test_a_segment_tells_of_its_messages():
    segment = Segment(encode("t1", MESSAGES))

    assert ("t1", 3, frozenset({"english", "german"})) == (segment.thread, segment.size, segment.languages)
    assert [message.at for message in MESSAGES] == [segment.at(place) for place in range(3)]
    assert [segment.role(place) for place in range(3)] == ["user", "assistant", "user"]
    assert [check_of("m1"), check_of("m2"), check_of("m3")] == [segment.check(place) for place in range(3)]
    assert [analyse(message.text).length for message in MESSAGES] == list(segment.lengths())
    assert sum(segment.lengths()) == segment.length


def test_what_is_no_segment_is_refused():
    for data in [b"", b"om", b"{}", b"omr", b"omr\x09\x01\x00rest-of-it", MAGIC + b"\x01"]:
        with pytest.raises(SegmentError, match="no segment"):
            version_of(data)


def test_what_was_changed_is_broken_and_what_is_of_another_version_is_not():
    whole = encode("t1", MESSAGES)
    other_version, other_format = whole[:4] + b"\x63\x00" + whole[6:], MAGIC + b"\x63" + whole[4:]
    assert [is_broken(value) for value in (whole, other_version, other_format)] == [False] * 3
    assert [is_broken(value) for value in (b"", b"garbage", MAGIC, whole[:8], whole[:-1], whole[:-1] + b"?")] == [
        True
    ] * 6
    # one that was forged is broken whatever its checksum says
    for what in [what for what in FORGED if what != "no message"]:
        value = forged(encode("t1", MESSAGES[:2]), **FORGED[what])
        assert is_broken(value), what
        with pytest.raises(SegmentError, match=r"the segment is broken.*: make it anew"):
            Segment(value)


@given(st.binary(max_size=60), st.integers(0, 400))
def test_a_broken_segment_is_a_segment_error(noise, at):
    whole = encode("t1", MESSAGES)
    at %= len(whole)
    try:
        segment = Segment(whole[:at] + noise + whole[at + len(noise) :])
        segment.postings(["blue"])[0]
        segment.postings(["*京"])[0]
        segment.lengths()
        [(segment.at(place), segment.role(place), segment.check(place)) for place in range(3)]
    except SegmentError:
        return


@given(st.lists(st.text(max_size=60), max_size=12))
def test_every_term_of_any_texts_is_found_as_often_as_it_was_said(texts):
    segment = Segment(encode("t", [Findable(f"m{place}", "user", place, text) for place, text in enumerate(texts)]))
    expected: dict[str, Counter] = {}
    for place, text in enumerate(texts):
        for term, times in analyse(text).terms.items():
            expected.setdefault(term, Counter())[place] = times
    for term, places in expected.items():
        assert places == segment.postings([term])[0]


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
