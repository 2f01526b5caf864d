"""Queries that are typed, and those that are made of what was said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.recall.query import COMMON, MOST_SAID, MOST_WORDS, NOTHING, ONLY_EXCLUDED, Query, parse_query, query_of_text

NOW = round(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp() * 1000)
MAY = round(datetime(2025, 5, 1, tzinfo=UTC).timestamp() * 1000)


def parsed(text):
    return parse_query(text, NOW, "UTC")


def test_words_are_searched_without_those_that_carry_nothing():
    assert parsed("What was the passport number?").words == ("passport", "number")
    assert parsed("Wo ist mein Reisepass?").words == ("reisepass",)


def test_syntax_is_read():
    query = parsed('"blue drawer" passport -work -"at home" thread:t1 role:user after:2025-05 before:May 2026')

    assert query.words == ("blue", "drawer", "passport")
    assert query.phrases == ("blue drawer",)
    assert (query.excluded, query.excluded_phrases) == (("work",), ("at home",))
    assert (query.threads, query.roles) == (("t1",), ("user",))
    assert query.after == MAY
    assert f"{datetime.fromtimestamp(query.before / 1000, UTC):%Y-%m-%d}" == "2026-05-01"


def test_what_is_quoted_keeps_its_little_words():
    assert parsed('"to be or not to be"').words == ("to", "be", "or", "not")


def test_a_time_of_day_may_bound_too():
    assert parsed("x after:2025-05-01T09:30:00Z").after == MAY + 34_200_000


@pytest.mark.parametrize("text", ["", "   ", "?!", "\x00\x1f", '""', "- -"])
def test_a_query_without_words_says_what_to_do(text):
    assert parsed(text).reason == NOTHING


def test_only_little_words_are_searched_for_and_told():
    query = parsed("what is it")

    assert (query.words, query.reason, query.notes) == (("what", "is", "it"), "", (COMMON,))


def test_a_query_that_only_excludes_says_so():
    assert parsed("-work").reason == ONLY_EXCLUDED


def test_a_broken_quote_is_a_word():
    query = parsed('"blue drawer')

    assert (query.words, query.phrases) == (("blue", "drawer"), ())


def test_a_long_query_is_bounded_and_says_so():
    query = parsed(" ".join(f"word{number}" for number in range(20_000)))

    assert len(query.words) == MOST_WORDS
    assert (f"only the first {MOST_WORDS} words of the query were searched for",) == query.notes


@pytest.mark.parametrize("words", [(), ("harbour",), ("harbour", "crane")])
def test_one_that_is_long_with_few_words_says_how_much_of_it_was_read(words):
    """Breaks without: "only the first 0 words of the query were searched for"."""
    query = parsed(" ".join(words).ljust(8_001))

    assert query.words == words
    assert query.notes == ("only the first 8,000 characters of the query were read",)
    assert parsed(" ".join(words).ljust(8_000)).notes == ()


def test_what_is_excluded_is_bounded_too():
    query = parsed("harbour " + " ".join(f"-word{number}" for number in range(200)))

    assert len(query.excluded) == MOST_WORDS
    assert query.notes == (f"only the first {MOST_WORDS} excluded words were heeded",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x role:king", "role:king is none: use one of user, assistant, system, tool"),
        ("x before:soon", "before:soon is no date: use 2025-05-01"),
        ("x after:2025-02-30", "after:2025-02-30 is no date"),
        ("x thread:a/b", "thread: 'a/b' is not an id"),
        ("x -role:user", "-role: cannot be excluded"),
    ],
)
def test_nonsense_in_a_field_names_what_is_permitted(text, told):
    with pytest.raises(InvalidInputError, match=told):
        parsed(text)


def test_dates_stand_beside_words_or_alone():
    assert (parsed("passport last week").words, len(parsed("passport last week").periods)) == (("passport",), 1)
    assert (parsed("last week").words, len(parsed("last week").periods), parsed("last week").reason) == ((), 1, "")


@pytest.mark.parametrize(
    "text", ["yesterday", "in May", "what did I say last week?", "in 2025", "3 days ago", "two weeks ago", "on the 3rd"]
)
def test_a_question_of_dates_alone_is_one_whatever_number_is_in_it(text):
    assert parsed(text).only_dates


@pytest.mark.parametrize("text", ["passport in May", "3 keys", "two", '"in May"', "-work", ""])
def test_one_with_a_word_or_without_a_date_is_none(text):
    assert not parsed(text).only_dates


def test_phrases_are_compared_with_the_text():
    query = parsed('"blue drawer" -"at work"')

    assert query.admits("It is in the BLUE drawer.")
    assert not query.admits("The drawer is blue")
    assert not query.admits("the blue drawer at work")
    assert parsed('"水を飲"').admits("冷たい水を飲む")
    assert Query().admits("")


def test_nothing_that_a_user_says_is_syntax():
    query = query_of_text('My role:king said -no to "thread:a/b" before:soon', NOW, "UTC")

    assert (query.phrases, query.excluded, query.threads) == ((), (), ())
    assert {"role:king", "thread:a/b"} <= set(query.words)


def test_questions_of_a_long_text_are_read_first():
    told = " ".join(f"word{number}" for number in range(500))
    query = query_of_text(f"{told}. Where is my passport?", NOW, "UTC")

    assert query.words[0] == "passport"
    assert len(query.words) == MOST_SAID


def test_small_talk_searches_for_nothing():
    assert query_of_text("Is it so?", NOW, "UTC").reason == NOTHING


@given(st.text(max_size=300))
def test_any_text_is_a_query_or_told_what_is_wrong(text):
    query_of_text(text, NOW, "Europe/Berlin")
    try:
        query = parsed(text)
    except InvalidInputError:
        return

    assert query.words or query.periods or query.reason
    assert query.admits(text) in {True, False}


@pytest.mark.parametrize("typed", ["role:\ud800", "after:\ud800", "thread:\ud800"])
def test_a_refusal_names_half_a_character_as_what_can_be_printed(typed):
    with pytest.raises(InvalidInputError) as refused:
        parse_query(typed, NOW, "UTC")

    assert refused.value.args[0].encode()
