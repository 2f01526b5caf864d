"""What a provider says of itself, as our errors repeat it."""

from __future__ import annotations

from model_requests import KEY

from om_workers.llm.quote import quote


def test_what_a_provider_says_is_one_line_of_at_most_300_characters():
    assert quote({"message": "a\n b" + "c" * 900}, "", "") == "a b" + "c" * 297


class Unread(str):
    __slots__ = ()

    def split(self, *_):
        raise AssertionError("read to its end")


def test_a_provider_that_tells_a_long_story_is_not_read_to_its_end():
    """Breaks when millions of words are compared with the key: a minute in which a timeout ends nothing."""
    assert quote({"message": Unread("word " * 2_000)}, KEY, "").startswith("word word")
