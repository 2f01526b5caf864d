"""Bodies: bytes and scores come back exactly, and people can read what is JSON."""

import json
import math

import pytest
from hostile import HOSTILE
from hypothesis import example, given
from hypothesis import strategies as st

from om_api.archive.body import from_body, to_body
from om_api.domain.errors import ArchiveError

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_MEMBERS = st.binary() | _JSON.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass"))
_SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60).map(float)


@given(st.lists(st.tuples(_MEMBERS, _SCORES)))
@example([(b"null", 0.0), (b'null,"eA=="', -0.0), (b"1],[2,3", 5e-324), (b"", 2.0**53), (b" 1", -(2.0**53))])
@example([(b'"\\ud800"', 1.5), (b'"\\u0000"', 1e308), (b'"\xff"', -1.0), (b"\x00", 0.1), (b"1" * 5_000, 1e22)])
@example([(b"[" * 900 + b"]" * 900, 1.0), (b"[" * 90_000 + b"]" * 90_000, 1.0), (b'{"a":"' + b"[" * 300 + b'"}', 1.0)])
def test_members_and_scores_come_back_exactly(members):
    body = to_body(members)
    found = from_body(body)

    assert found == tuple(members)
    assert [math.copysign(1, score) for _, score in found] == [math.copysign(1, score) for _, score in members]
    assert len(json.loads(body)) == len(members)
    assert "\x00" not in body


def test_hostile_texts_come_back_exactly():
    members = tuple((json.dumps({"content": text}).encode(), float(n)) for n, text in enumerate(HOSTILE))

    assert from_body(to_body(members)) == members


def test_what_is_json_stands_as_it_was_written_and_other_bytes_in_base64():
    members = [(b'{"id": "a",  "n": 1.0}', 1_700_000_000_000.0), (b"\xff", 0.5)]

    assert to_body(members) == '[[1700000000000,{"id": "a",  "n": 1.0}],[0.5,null,"/w=="]]'


def test_what_databases_cannot_nest_is_no_json_to_them():
    deep, wide = b"[" * 201 + b"]" * 201, b"[" + b",".join([b"[]"] * 500) + b"]"

    assert json.loads(to_body([(deep, 1.0)]))[0][1] is None
    assert json.loads(to_body([(wide, 1.0)]))[0][1] == [[]] * 500


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_a_score_that_is_no_number_is_refused(score):
    with pytest.raises(ArchiveError, match="no finite number"):
        to_body([(b"1", score)])


@pytest.mark.parametrize("body", ["", "[", "{}", "[1]", '[[1,null,"*"]]', '[["x",1]]'])
def test_what_was_not_archived_so_is_told(body):
    with pytest.raises(ArchiveError, match="restore the archive from a backup"):
        from_body(body)
