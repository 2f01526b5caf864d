"""What was archived counts among what is searched, and nothing is found in it until it is fetched."""

import pytest

from om_api.recall.distant import Distant

PART = Distant("t-1", 30, 400, frozenset({"english"}), 7)


def test_it_says_how_much_it_is_and_holds_no_word():
    assert (PART.size, PART.length, PART.at(3)) == (30, 400, 7)
    assert PART.postings(["anchor", "harbour"]) == [{}, {}]
    assert not PART.lengths()
    assert not PART.times()


def test_what_only_the_fetched_can_say_is_not_made_up():
    with pytest.raises(LookupError):
        PART.role(0)
    with pytest.raises(LookupError):
        PART.check(0)
