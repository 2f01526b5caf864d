"""Searching several sources."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.recall.loose import Loose
from om_api.recall.query import Query, parse_query
from om_api.recall.searching import SURE, search
from om_api.recall.segment import Findable, Segment, encode
from om_api.recall.wording import words_of

NOW = round(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000
SAID = [
    ("user", "My passport number is 77-31, it lies in the blue drawer"),
    ("assistant", "Noted: the passport lies in the drawer"),
    ("user", "Der Zug nach Köln fährt um neun"),
    ("user", "We bought a bicycle for Anna's birthday"),
    ("assistant", "東京駅で会いましょう"),
    ("user", "Я читаю новые книги"),
    ("user", "I painted the kitchen blue"),
]
MESSAGES = [Findable(f"m{place}", role, NOW - (20 - place) * DAY, text) for place, (role, text) in enumerate(SAID)]


@pytest.fixture
def sources():
    return [Segment(encode("t1", MESSAGES[:4])), Loose("t2", MESSAGES[4:])]


def found(sources, text, **filters):
    hits = search(sources, parse_query(text, NOW, "UTC"), **filters)
    return [hit.place + 4 * (hit.source.thread == "t2") for hit in hits]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("passport number", [0, 1]),
        ("passports", [1, 0]),
        ("koln zuge", [2]),
        ("bicycles for anna", [3]),
        ("京", [4]),
        ("東京駅", [4]),
        ("книгу", [5]),
        ("blue", [6, 0]),
        ("blue -kitchen", [0]),
        ('"blue drawer"', [0]),
        ("77-31", [0]),
        ("zebra", []),
    ],
)
def test_words_find_their_messages_best_first(sources, text, expected):
    assert expected == found(sources, text)


def test_filters_of_call_and_query_narrow_together(sources):
    assert found(sources, "blue thread:t1") == [0]
    assert found(sources, "blue", threads=["t2"]) == [6]
    assert found(sources, "blue thread:t1", threads=["t2"]) == []
    assert found(sources, "drawer role:assistant") == [1]
    assert found(sources, "drawer", roles=["user"]) == [0]
    assert found(sources, "blue", after=NOW - 18 * DAY) == [6]
    assert found(sources, "blue", before=NOW - 18 * DAY) == [0]
    assert found(sources, "blue", before=NOW - 20 * DAY) == []


def test_a_date_alone_filters_and_beside_words_it_raises():
    told = [Findable(str(day), "user", NOW - day * DAY, "we met in the park") for day in range(30, 0, -1)]
    sources = [Segment(encode("t", told))]

    dated = [told[hit.place].id for hit in search(sources, parse_query("last week", NOW, "UTC"), limit=30)]
    raised = [told[hit.place].id for hit in search(sources, parse_query("park last week", NOW, "UTC"), limit=30)]

    assert [str(day) for day in range(2, 9)] == dated
    assert set(dated) == set(raised[:7])
    assert len(raised) == 30


def test_of_equal_messages_the_newer_is_first():
    told = [Findable(str(day), "user", NOW - day * DAY, "we met") for day in (9, 5, 7)]

    hits = search([Segment(encode("t", told))], parse_query("met", NOW, "UTC"), limit=2)

    assert [told[hit.place].id for hit in hits] == ["5", "7"]


def test_a_hit_says_which_words_it_has_and_how_sure_it_is(sources):
    best, *_ = search(sources, parse_query("blue drawer zebra", NOW, "UTC"))

    assert best.words == ("blue", "drawer")
    assert 0 < best.certainty < 1


def test_what_was_asked_for_is_sure_and_what_shares_a_common_word_is_not():
    told = [Findable(str(place), "user", place, f"we talked of the weather and of day{place}") for place in range(200)]
    sources = [Segment(encode("t", [*told, Findable("m", "user", 999, "My passport number is 77-31")]))]

    asked = search(sources, parse_query("what is my passport number", NOW, "UTC"), limit=1)
    chance = search(sources, parse_query("is the weather in Lisbon good for sailing", NOW, "UTC"), limit=1)

    assert asked[0].certainty > SURE > chance[0].certainty


def test_an_answer_beside_its_question_is_found_before_one_that_is_alone():
    told = ["it was a fine harbour", "So", "We sailed out of the harbour", "Which harbour did you sail from?", "So"]
    sources = [Loose("t", [Findable(str(place), "user", place, text) for place, text in enumerate(told)])]

    hits = search(sources, parse_query("harbour", NOW, "UTC"))

    assert {2, 3} == {hit.place for hit in hits[:2]}


def test_nothing_is_found_in_nothing():
    assert search([], parse_query("blue", NOW, "UTC")) == []
    assert search([Segment(encode("t", []))], parse_query("blue", NOW, "UTC")) == []
    assert search([Loose("t", MESSAGES)], Query()) == []


@given(st.lists(st.text(max_size=80), min_size=1, max_size=5), st.data())
def test_every_word_asked_alone_finds_its_message_among_all(texts, data):
    messages = [Findable(str(place), "user", place, text) for place, text in enumerate(texts)]
    sources = [Segment(encode("a", messages[:2])), Loose("b", messages[2:])]
    place = data.draw(st.integers(0, len(texts) - 1))
    for word in words_of(texts[place]):
        if ":" not in word:
            hits = search(sources, parse_query(word, NOW, "UTC"), limit=10)

            assert place in {hit.place + 2 * (hit.source.thread == "b") for hit in hits}
