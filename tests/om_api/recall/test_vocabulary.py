"""A vocabulary finds what every segment finds by itself, and takes in as many as it is told."""

import random

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
    vocabulary.take(together[:taken], 100)

    expected = [(hit.source.thread, hit.place, hit.score, hit.words) for hit in search(alone, query)]

    found = search(together, query, vocabulary=vocabulary)
    assert [(hit.source.thread, hit.place, hit.score, hit.words) for hit in found] == expected


def test_each_segment_is_taken_in_once():
    segments, vocabulary = made(), Vocabulary()

    sizes = []
    for most in (1, 1, 5, 100, 100):
        vocabulary.take(segments, most)
        sizes.append(vocabulary.length)

    lengths = [segment.length for segment in segments]
    assert sizes == [lengths[0], sum(lengths[:2]), *[sum(lengths)] * 3]
    assert (
        vocabulary.words == sum(len(segment.terms()) for segment in segments) - 1
    )  # two of one language have "passport"


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_what_is_not_searched_is_not_found(left_out):
    """A vocabulary knows segments that went meanwhile, or that a context shows anyway: they count for nothing."""
    query, together, vocabulary = parse_query("passport user closed", 0, "UTC"), made(), Vocabulary()
    vocabulary.take(together, 100)
    del together[left_out]

    found = search(together, query, vocabulary=vocabulary)

    assert found
    assert found == search(together, query)


def test_who_searches_while_segments_are_taken_in_sees_each_whole_or_not():
    """Time 0: a search has its view of two segments. Time 1: a third with its words is taken in. Time 2: it asks for them."""
    segments, vocabulary = made(), Vocabulary()
    vocabulary.take(segments[::2], 100)
    views, _ = vocabulary.views(segments[::2])
    before = [view.postings(["passport", "user", "offic"]) for view in views]

    vocabulary.take(segments, 100)

    assert any(any(found) for found in before)
    assert [view.postings(["passport", "user", "offic"]) for view in views] == before


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_best_few_are_those_of_all(limit):
    """What so many others leave behind is not looked at: turns beside a hit add to its score, though."""
    dice = random.Random(limit)
    words = [f"word{n}" for n in range(12)]
    segments = [
        Segment(
            encode("t", [Findable(f"m-{n}-{at}", "user", at, " ".join(dice.choices(words, k=5))) for at in range(60)])
        )
        for n in range(4)
    ]
    vocabulary = Vocabulary()
    vocabulary.take(segments[:3], 10_000)
    for _ in range(40):
        query = parse_query(" ".join(dice.sample(words, 3)), 0, "UTC")

        found = search(segments, query, limit=limit, vocabulary=vocabulary)

        assert found == search(segments, query, limit=240)[:limit]


def test_few_segments_of_a_large_table_are_searched_by_themselves():
    """A context in thread scope asks one thread of many: what all the others hold would only be taken out again."""
    segments, vocabulary = [segment for _ in range(4) for segment in made()[::2]], Vocabulary()
    vocabulary.take(segments, 1_000)

    alone, all_of_them = vocabulary.views(segments[:1]), vocabulary.views(segments)

    assert alone == ([], [0])
    assert (len(all_of_them[0]), all_of_them[1]) == (1, [])


def test_while_one_thread_takes_segments_in_another_goes_on_without():
    segments, vocabulary = made(), Vocabulary()
    with vocabulary._taking:
        vocabulary.take(segments, 100)

    assert vocabulary.views(segments) == ([], [0, 1, 2])


def test_a_segment_that_was_taken_in_by_half_is_searched_by_itself(monkeypatch):
    """Whatever interrupts it, what was taken in of it belongs to nobody."""
    segments, vocabulary = made()[::2], Vocabulary()
    whole = Segment.inverted

    def broken(self):
        yield from list(whole(self))[:4]
        raise KeyboardInterrupt

    monkeypatch.setattr(Segment, "inverted", broken)
    with pytest.raises(KeyboardInterrupt):
        vocabulary.take(segments[:1], 100)
    monkeypatch.undo()
    vocabulary.take(segments[1:], 100)
    query = parse_query("passport user green in my", 0, "UTC")

    assert [others for _, others in [vocabulary.views(segments)]] == [[0]]
    assert search(segments, query, vocabulary=vocabulary) == search(segments, query)
