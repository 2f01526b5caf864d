"""Words: what a segment says of its messages, and marks that no term can be taken for."""

import pytest
from archived import AT, generation, messages
from forged_segments import FORGED, forged

from om_api.archive.words import WHOLE, indexed, of_message, of_resource, of_terms
from om_api.recall.analysis import analyse
from om_api.recall.segment import Findable, encode


def test_messages_are_known_by_their_segment():
    entry = messages("c1", "My passport is blue", "Der Zug ist lang und die Reise auch")
    found = indexed(entry)

    assert (found.size, found.languages) == (2, ("english", "german"))
    assert (found.first_at, found.last_at) == (AT, AT + 60_000)
    assert found.length == analyse("My passport is blue").length + analyse("Der Zug ist lang und die Reise auch").length
    assert {of_resource("harold"), WHOLE, of_message("c1-0"), of_message("c1-1"), "blue", "zug"} <= {
        *found.words.split(" ")
    }


_BROKEN = {name: said for name, said in FORGED.items() if name != "no message"}  # which a segment may have


@pytest.mark.parametrize("said", _BROKEN.values(), ids=_BROKEN)
def test_words_of_a_broken_segment_are_not_said_to_be_whole(said):
    entry = messages("c1", "a blue passport", "a red one")
    found = indexed(entry._replace(segment=forged(entry.segment, **said)))

    assert found.words == of_resource("harold")
    assert (found.size, found.first_at, found.last_at) == (2, AT, AT + 60_000)


@pytest.mark.parametrize("segment", [b"", b"omr", b"omr\x01\x01\x00aaaa"])
def test_words_that_cannot_be_read_are_not_said_to_be_whole(segment):
    assert indexed(messages()._replace(segment=segment)).words == of_resource("harold")


def test_too_many_words_are_not_said_to_be_whole():
    many = encode("t1", [Findable("m1", "user", AT, " ".join(f"word{n}of{n}" for n in range(40_000)))])

    assert indexed(messages()._replace(segment=many)).words == of_resource("harold")


def test_what_is_no_messages_has_no_words():
    assert indexed(generation()).words == ""


@pytest.mark.parametrize("term", ["", "a b", "a\x00b", "\ud800", "x" * 200, "a\u00a0b", "a\nb"])
def test_a_term_that_a_database_would_part_has_another_word(term):
    (word,) = of_terms([term])

    assert word.startswith("*t")
    assert [word] == list(of_terms([term]))


def test_other_terms_are_their_own_words():
    terms = ["passport", "c++", "東京", "o'neil", 'a"b', "a\\b", "é", "v1.2"]

    assert list(of_terms(terms)) == terms
