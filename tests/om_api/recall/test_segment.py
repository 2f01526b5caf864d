"""Segments: what was encoded is found in them."""

from collections import Counter

import pytest
from forged_segments import FORGED, forged
from hypothesis import given
from hypothesis import strategies as st

from om_api.recall.analysis import VERSION, analyse
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


def test_terms_are_found_where_they_stand():
    segment = Segment(encode("t1", MESSAGES))

    assert segment.postings(["blue"])[0] == {0: 1, 1: 2}
    assert segment.postings(["zug"])[0] == {2: 1}
    assert segment.postings(["東京"])[0] == {2: 1}
    assert segment.postings(["*京"])[0] == {2: 2}
    assert segment.postings(["blu"])[0] == {}
    assert segment.postings(["zebra"])[0] == {}
    assert segment.postings([""])[0] == {}


def test_equal_messages_make_equal_bytes():
    assert encode("t1", MESSAGES) == encode("t1", MESSAGES)


def test_an_empty_chunk_is_a_segment():
    segment = Segment(encode("t1", []))

    assert (segment.size, segment.length) == (0, 0)
    assert segment.postings(["blue"])[0] == {}


def test_many_messages_with_many_terms_are_counted_right():
    texts = [f"word{number} common {'again ' * (number % 40)}" for number in range(700)]
    segment = Segment(encode("t", [Findable(str(n), "user", n, text) for n, text in enumerate(texts)]))

    assert segment.postings(["word699"])[0] == {699: 1}
    assert list(range(700)) == list(segment.postings(["common"])[0])
    assert segment.postings(["again"])[0][39] == 39
    assert segment.postings(["again"])[0][43] == 3


def test_what_is_said_again_and_again_in_a_long_message_takes_no_more_room():
    once, often = (encode("t", [Findable("m", "user", 0, "spam " * times)]) for times in (150, 50_000))

    assert Segment(often).postings(["spam"]) == [{0: 15}]
    assert Segment(once).postings(["spam"]) == [{0: 150}]
    assert len(often) < 200


@pytest.mark.parametrize("data", [b"", b"om", b"{}", b"omr", b"omr\x09\x01\x00rest-of-it", MAGIC + b"\x01"])
def test_what_is_no_segment_is_refused(data):
    with pytest.raises(SegmentError, match="no segment"):
        version_of(data)


def test_another_version_is_told_and_refused():
    data = bytearray(encode("t1", MESSAGES))
    data[4:6] = (VERSION + 1).to_bytes(2, "little")

    assert version_of(bytes(data)) == VERSION + 1
    with pytest.raises(SegmentError, match=f"version {VERSION + 1}"):
        Segment(bytes(data))


def test_what_was_changed_is_broken_and_what_is_of_another_version_is_not():
    whole = encode("t1", MESSAGES)
    other_version, other_format = whole[:4] + b"\x63\x00" + whole[6:], MAGIC + b"\x63" + whole[4:]

    assert [is_broken(value) for value in (whole, other_version, other_format)] == [False] * 3
    assert [is_broken(value) for value in (b"", b"garbage", MAGIC, whole[:8], whole[:-1], whole[:-1] + b"?")] == [
        True
    ] * 6


@pytest.mark.parametrize("what", [what for what in FORGED if what != "no message"])
def test_one_that_was_forged_is_broken_whatever_its_checksum_says(what):
    value = forged(encode("t1", MESSAGES[:2]), **FORGED[what])

    assert is_broken(value)
    with pytest.raises(SegmentError, match=r"the segment is broken.*: make it anew"):
        Segment(value)


@pytest.mark.parametrize("texts", [[], [""], ["one"], ["", "one two"], ["水", "und so weiter 😀"]])
def test_whatever_was_encoded_is_whole(texts):
    assert not is_broken(encode("t", [Findable(str(n), "user", n, text) for n, text in enumerate(texts)]))


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
