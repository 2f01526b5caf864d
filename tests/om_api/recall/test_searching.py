"""Searching several sources."""

from datetime import UTC, datetime

import pytest

from om_api.recall.loose import Loose
from om_api.recall.query import parse_query
from om_api.recall.ranked_texts import ranked
from om_api.recall.searching import SURE, search
from om_api.recall.segment import Findable, Segment, encode
from om_api.recall.vocabulary import Vocabulary

NOW = round(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000
SAID = [
    ("user", "My passport number is 77-31, it lies in the blue drawer"),
    ("assistant", "Noted: the passport lies in the drawer"), ("user", "Der Zug nach Köln fährt um neun"),
    ("user", "We bought a bicycle for Anna's birthday"), ("assistant", "東京駅で会いましょう"), ("user", "Я читаю новые книги"),
    ("user", "I painted the kitchen blue"),
]  # fmt: skip
MESSAGES = [Findable(f"m{place}", role, NOW - (20 - place) * DAY, text) for place, (role, text) in enumerate(SAID)]


@pytest.fixture
def sources():
    return [Segment(encode("t1", MESSAGES[:4])), Loose("t2", MESSAGES[4:])]


def found(sources, text, **filters):
    hits = search(sources, parse_query(text, NOW, "UTC"), **filters)
    return [hit.place + 4 * (hit.source.thread == "t2") for hit in hits]


def test_words_find_their_messages_best_first(sources):
    for text, expected in [
        ("passport number", [0, 1]), ("passports", [1, 0]), ("koln zuge", [2]), ("京", [4]), ("книгу", [5]),
        ("blue", [6, 0]), ("blue -kitchen", [0]), ('"blue drawer"', [0]), ("77-31", [0]), ("zebra", []),
    ]:  # fmt: skip
        assert expected == found(sources, text), text


def test_filters_of_call_and_query_narrow_together(sources):
    assert found(sources, "blue thread:t1") == [0]
    assert found(sources, "blue", threads=["t2"]) == [6]
    assert found(sources, "blue thread:t1", threads=["t2"]) == []
    assert found(sources, "drawer role:assistant") == [1]
    assert found(sources, "drawer", roles=["user"]) == [0]
    assert found(sources, "blue", after=NOW - 18 * DAY) == [6]
    assert found(sources, "blue", before=NOW - 18 * DAY) == [0]
    assert found(sources, "blue", before=NOW - 20 * DAY) == []


def test_what_was_asked_for_is_sure_and_what_shares_a_common_word_is_not():
    told = [Findable(str(place), "user", place, f"we talked of the weather and of day{place}") for place in range(200)]
    sources = [Segment(encode("t", [*told, Findable("m", "user", 999, "My passport number is 77-31")]))]

    asked = search(sources, parse_query("what is my passport number", NOW, "UTC"), limit=1)
    chance = search(sources, parse_query("is the weather in Lisbon good for sailing", NOW, "UTC"), limit=1)

    assert asked[0].certainty > SURE > chance[0].certainty


TALKS = (
    ("my passport is green", "the Passport office is closed in May"),
    ("Der Reisepass liegt im Büro", "nothing of it"),
    ("user_id and src/app.py", "passport passport passport"),
)


def made():
    return [
        Segment(
            encode(f"t-{n}", [Findable(f"m-{n}-{at}", "user", 1_000 * n + at, text) for at, text in enumerate(talk)])
        )
        for n, talk in enumerate(TALKS)
    ]


def test_what_is_found_is_what_is_found_without_it():
    for words in ("passport", "user app.py", "closed green", '"passport office"'):
        for taken in (0, 1, 3):
            query, alone, together, vocabulary = parse_query(words, 0, "UTC"), made(), made(), Vocabulary()
            vocabulary.take(together[:taken], 100)
            expected = [(hit.source.thread, hit.place, hit.score, hit.words) for hit in search(alone, query)]
            found = search(together, query, vocabulary=vocabulary)
            assert [(hit.source.thread, hit.place, hit.score, hit.words) for hit in found] == expected, (words, taken)


def test_who_searches_while_segments_are_taken_in_sees_each_whole_or_not():
    """Time 0: a search has its view of two segments. Time 1: a third with its words is taken in. Time 2: it asks for them."""
    segments, vocabulary = made(), Vocabulary()
    vocabulary.take(segments[::2], 100)
    views, _ = vocabulary.views(segments[::2])
    before = [view.postings(["passport", "user", "offic"]) for view in views]

    vocabulary.take(segments, 100)

    assert any(any(found) for found in before)
    assert [view.postings(["passport", "user", "offic"]) for view in views] == before


def test_ranked_texts_have_the_words_the_rare_ones_first():
    texts = [
        "The passport lies in the blue drawer.", "Window seats", "Blue is the car, and blue the house.", "", "护照在抽屉里",
    ]  # fmt: skip
    found = {"Where is the blue passport?": [0, 2], "照": [4], "submarine": [], "": []}
    assert {query: [place for place, _ in ranked(query, texts)] for query in found} == found
