"""Bodies and words of an entry: bytes and scores come back exactly, and no term is lost."""

import json
import math

import pytest
from archived import AT, generation, messages
from forged_segments import FORGED, forged
from hostile import HOSTILE

from om_api.archive.body import from_body, to_body
from om_api.archive.words import WHOLE, indexed, of_message, of_resource, of_terms
from om_api.domain.errors import ArchiveError
from om_api.recall.analysis import analyse
from om_api.recall.segment import Findable, encode


def test_members_and_scores_come_back_exactly():
    deep = b"[" * 90_000 + b"]" * 90_000
    members = [(b"null", 0.0), (b'null,"eA=="', -0.0), (b"1],[2,3", 5e-324), (b"", 2.0**53), (b" 1", -(2.0**53))]
    members += [(b'"\\ud800"', 1.5), (b'"\\u0000"', 1e308), (b'"\xff"', -1.0), (b"\x00", 0.1), (b"1" * 5_000, 1e22)]
    members += [(b"[" * 900 + b"]" * 900, 1.0), (deep, 1.0), (b'{"a":"' + b"[" * 300 + b'"}', 1.0)]
    members += [(json.dumps({"content": text}).encode(), float(n)) for n, text in enumerate(HOSTILE)]
    body = to_body(members)
    found = from_body(body)

    assert found == tuple(members)
    assert [math.copysign(1, score) for _, score in found] == [math.copysign(1, score) for _, score in members]
    assert len(json.loads(body)) == len(members)
    assert "\x00" not in body


def test_json_stands_as_it_was_written_and_other_bytes_or_what_databases_cannot_nest_in_base64():
    members = [(b'{"id": "a",  "n": 1.0}', 1_700_000_000_000.0), (b"\xff", 0.5)]

    assert to_body(members) == '[[1700000000000,{"id": "a",  "n": 1.0}],[0.5,null,"/w=="]]'
    deep, wide = b"[" * 201 + b"]" * 201, b"[" + b",".join([b"[]"] * 500) + b"]"
    assert json.loads(to_body([(deep, 1.0)]))[0][1] is None
    assert json.loads(to_body([(wide, 1.0)]))[0][1] == [[]] * 500


def test_what_cannot_be_a_body_is_refused():
    for score in (math.inf, -math.inf, math.nan):
        with pytest.raises(ArchiveError, match="no finite number"):
            to_body([(b"1", score)])
    for body in ("", "[", "{}", "[1]", '[[1,null,"*"]]', '[["x",1]]'):
        with pytest.raises(ArchiveError, match="restore the archive from a backup"):
            from_body(body)
            pytest.fail(f"{body} is taken for one")


def test_messages_are_known_by_their_segment():
    entry = messages("c1", "My passport is blue", "Der Zug ist lang und die Reise auch")
    found = indexed(entry)

    assert (found.size, found.languages) == (2, ("english", "german"))
    assert (found.first_at, found.last_at) == (AT, AT + 60_000)
    assert found.length == analyse("My passport is blue").length + analyse("Der Zug ist lang und die Reise auch").length
    assert {of_resource("harold"), WHOLE, of_message("c1-0"), of_message("c1-1"), "blue", "zug"} <= {
        *found.words.split(" ")
    }


def test_words_that_cannot_be_read_are_not_said_to_be_whole():
    entry = messages("c1", "a blue passport", "a red one")
    for what, said in FORGED.items():
        if what != "no message":  # which a segment may have
            found = indexed(entry._replace(segment=forged(entry.segment, **said)))
            assert (found.words, found.size) == (of_resource("harold"), 2), what
            assert (found.first_at, found.last_at) == (AT, AT + 60_000), what
    many = encode("t1", [Findable("m1", "user", AT, " ".join(f"word{n}of{n}" for n in range(40_000)))])
    for segment in (b"", b"omr", b"omr\x01\x01\x00aaaa", many):  # none, broken, too many words
        assert indexed(entry._replace(segment=segment)).words == of_resource("harold"), segment[:20]
    assert indexed(generation()).words == ""


def test_terms_are_their_own_words_but_where_a_database_would_part_them():
    own = ["passport", "c++", "東京", "o'neil", 'a"b', "a\\b", "é", "v1.2"]
    assert list(of_terms(own)) == own
    for term in ("", "a b", "a\x00b", "\ud800", "x" * 200, "a\u00a0b", "a\nb"):
        (word,) = of_terms([term])
        assert word.startswith("*t"), term
        assert [word] == list(of_terms([term])), term
