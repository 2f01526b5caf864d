"""Queries that are typed, and those that are made of what was said."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.recall.days import periods
from om_api.recall.query import NOTHING, parse_query, query_of_text

NOW = round(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp() * 1000)
MAY = round(datetime(2025, 5, 1, tzinfo=UTC).timestamp() * 1000)


def parsed(text):
    return parse_query(text, NOW, "UTC")


def test_syntax_is_read():
    query = parsed('"blue drawer" passport -work -"at home" thread:t1 role:user after:2025-05 before:May 2026')

    assert query.words == ("blue", "drawer", "passport")
    assert query.phrases == ("blue drawer",)
    assert (query.excluded, query.excluded_phrases) == (("work",), ("at home",))
    assert (query.threads, query.roles) == (("t1",), ("user",))
    assert query.after == MAY
    assert f"{datetime.fromtimestamp(query.before / 1000, UTC):%Y-%m-%d}" == "2026-05-01"


def test_a_query_without_words_says_what_to_do():
    for text in ("", "   ", "?!", "\x00\x1f", '""', "- -"):
        assert parsed(text).reason == NOTHING, text


def test_nonsense_in_a_field_names_what_is_permitted():
    for text, told in [
        ("x role:king", "role:king is none: use one of user, assistant, system, tool"),
        ("x before:soon", "before:soon is no date: use 2025-05-01"),
        ("x after:2025-02-30", "after:2025-02-30 is no date"),
        ("x thread:a/b", "thread: 'a/b' is not an id"),
        ("x -role:user", "-role: cannot be excluded"),
    ]:
        with pytest.raises(InvalidInputError, match=told):
            parsed(text)


def test_nothing_that_a_user_says_is_syntax():
    query = query_of_text('My role:king said -no to "thread:a/b" before:soon', NOW, "UTC")

    assert (query.phrases, query.excluded, query.threads) == ((), (), ())
    assert {"role:king", "thread:a/b"} <= set(query.words)


@given(st.text(max_size=300))
def test_any_text_is_a_query_or_told_what_is_wrong(text):
    query_of_text(text, NOW, "Europe/Berlin")
    try:
        query = parsed(text)
    except InvalidInputError:
        return

    assert query.words or query.periods or query.reason
    assert query.admits(text) in {True, False}


def test_phrases_are_read_once_and_bounded(monkeypatch):
    query, read = parsed('the "q a" "q a"' + "".join(f' -"cat {at}!"' * 9 for at in range(60))), []
    monkeypatch.setattr("om_api.recall.query.plain", lambda text: read.append(text) or text)

    assert query.excluded_phrases == tuple(f"cat {at}!" for at in range(48))
    assert "only the first 48 excluded words and phrases were used" in query.notes
    assert [query.admits(text) for text in ("q a", "cat 7! q a", "cat 7", "q a cat 59!")] == [True, False, False, True]
    assert len(read) == 4 + 1 + 48
    many = parsed(" ".join(f'"cat {at}"' for at in range(60)))
    assert many.phrases == tuple(f"cat {at}" for at in range(48))
    assert "only the first 48 phrases were searched for" in many.notes


def days_of(found, zone="UTC"):
    return [
        tuple(f"{datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)):%Y-%m-%d %H}" for ms in period) for period in found
    ]


def test_dates_in_words_look_back_in_their_zone_and_other_words_name_no_day():
    for text, first, until in [
        ("what did I say in May", "2025-05-01", "2025-06-01"),
        ("what will we do last week", "2026-03-02", "2026-03-09"), ("on March 3", "2026-03-03", "2026-03-04"),
        ("May 2025", "2025-05-01", "2025-06-01"), ("yesterday", "2026-03-09", "2026-03-10"),
        ("3 days ago", "2026-03-07", "2026-03-08"), ("trips in 2024", "2024-01-01", "2025-01-01"),
    ]:  # fmt: skip
        assert (f"{first} 00", f"{until} 00") in days_of(periods(text, NOW, "UTC")), text
    assert days_of(periods("in May 2025", NOW, "Asia/Tokyo"), "Asia/Tokyo") == [("2025-05-01 00", "2025-06-01 00")]
    for text in ("", "nothing here", "February 30", "may I ask", "0000-00-00", "in 5 weeks"):
        assert periods(text, NOW, "UTC") == (), text
