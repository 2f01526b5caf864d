"""A vocabulary finds what every segment finds by itself, and takes in as many as it is told."""

import pytest

from om_api.recall.query import parse_query
from om_api.recall.searching import search
from om_api.recall.segment import Findable, Segment, encode
from om_api.recall.vocabulary import Vocabulary

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


@pytest.mark.parametrize(
    "words", ["passport", "Reisepass", "user app.py", "closed green", "nowhere", '"passport office"']
)
@pytest.mark.parametrize("taken", [0, 1, 3])
def test_what_is_found_is_what_is_found_without_it(words, taken):
    query, alone, together, vocabulary = parse_query(words, 0, "UTC"), made(), made(), Vocabulary()
    vocabulary.take(together, taken)

    expected = [(hit.source.thread, hit.place, hit.score, hit.words) for hit in search(alone, query)]

    found = search(together, query, vocabulary=vocabulary)
    assert [(hit.source.thread, hit.place, hit.score, hit.words) for hit in found] == expected


def test_each_segment_is_taken_in_once():
    segments, vocabulary = made(), Vocabulary()

    sizes = []
    for most in (2, 2, 5):
        vocabulary.take(segments, most)
        sizes.append(vocabulary.size)

    assert sizes == [2, 3, 3]
