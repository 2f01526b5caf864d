"""The value of a segment."""

from array import array

import pytest

from om_api.recall.segment_format import (
    PackedSegment,
    SegmentError,
    from_value,
    item_code,
    to_array,
    to_bytes,
    to_value,
    version_of,
)

PACKED = PackedSegment(2, 9, "t1", ("english",), "BH", b"terms", b"postings", b"messages")


def test_a_value_is_read_back_with_its_version():
    value = to_value(PACKED, 7)

    assert version_of(value) == 7
    assert from_value(value) == PACKED


@pytest.mark.parametrize("at", [6, 10, 20, -1])
def test_a_changed_byte_is_noticed(at):
    value = bytearray(to_value(PACKED, 7))
    value[at] ^= 1

    with pytest.raises(SegmentError, match="broken"):
        from_value(bytes(value))


@pytest.mark.parametrize(("most", "code"), [(0, "B"), (255, "B"), (256, "H"), (65_535, "H"), (65_536, "I")])
def test_items_are_as_small_as_they_can_be(most, code):
    assert item_code(most) == code
    assert to_array(code, to_bytes(array(code, [most, 0]))) == array(code, [most, 0])
