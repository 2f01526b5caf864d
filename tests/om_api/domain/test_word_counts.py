"""Counting by words: as exact as tokenising the text, whatever stands between and within them."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain import tokens, word_counts
from om_api.domain.word_counts import WordCounts

EDGES = [
    *"          \n\t\r\x0b\x1c\x85\xa0\u2003\u3000abABzZsS019'/.,-{}\"’é你ß̈ǅſ\u200b\U0001f600",
    "'s",
    "'LL",
    " the",
    " \n",
]


def exactly(text):
    return len(tokens._encoding().encode_ordinary(text))


@pytest.fixture
def counted():
    """The words that were counted, beside a counter of them."""
    words = []
    return words, WordCounts(lambda text: words.append(text) or exactly(text))


def test_what_is_made_of_edges_weighs_what_it_is_tokenised_to():
    dice, count = random.Random(16), WordCounts(exactly)
    texts = ["".join(dice.choices(EDGES, k=dice.randint(0, 14))) for _ in range(40_000)]

    told = [(text, tokens) for text in texts if (tokens := count.of(text)) is not None]

    assert len(told) > 10_000
    assert [(text, tokens) for text, tokens in told if tokens != exactly(text)] == []


@given(st.text())
def test_any_text_weighs_what_it_is_tokenised_to(text):
    assert WordCounts(exactly).of(text) in {None, exactly(text)}


def test_a_word_is_tokenised_once_with_the_blank_before_it(counted):
    words, count = counted

    assert [count.of(text) for text in ("so it goes", "it goes so", "so it  goes")] == [3, 3, 4]
    assert sorted(words) == [" ", " goes", " it", " so", "it", "so"]


@pytest.mark.parametrize("text", ["a   b", "a b  ", "a\n \nb", "a \nb", "\ta b", "a\t b", "语" * 65, "a " + "b" * 65])
def test_a_text_whose_words_do_not_stand_alone_is_left_to_whoever_tokenises_it(counted, text):
    assert counted[1].of(text) is None


def test_a_text_of_many_new_words_is_tokenised_as_a_whole_and_some_of_them_are_remembered(counted):
    words, count = counted
    text = " ".join(f"w{n}" for n in range(word_counts.NEW * 2))

    assert [count.of(text) for _ in range(3)] == [None, exactly(text), exactly(text)]
    assert len(words) == word_counts.NEW * 2


def test_no_more_words_are_remembered_than_may_be():
    count = WordCounts(exactly, 10)

    counts = [count.of(f"say {n} again") for n in range(100)]

    assert set(counts) <= {4, None}
    assert len(count._known) <= 10


def test_threads_share_what_is_remembered():
    count = WordCounts(exactly, 20)
    texts = [f"say {n} again" for n in range(50)] * 40

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(count.of, texts))

    assert set(counts) <= {4, None}
    assert counts.count(4) > len(counts) / 2
