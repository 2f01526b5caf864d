"""Where words stand in a text."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from om_api.recall import marking
from om_api.recall.marking import excerpt, spans
from om_api.recall.query import parse_query, query_of_text
from om_api.recall.wording import pieces

NOW = 1_770_000_000_000


def marked(text, asked):
    found = spans(text, parse_query(asked, NOW, "UTC"))
    return [text[start:end] for start, end in found]


def test_words_are_marked_as_they_stand():
    assert marked("Two passports? One Passport!", "my passport") == ["passports", "Passport"]
    assert marked("Der Zug nach Köln ist da", "koln") == ["Köln"]
    assert marked("set user_id", "users") == ["user"]
    assert marked("set user_id", "user_id") == ["user_id"]
    assert marked("Anna's bicycle", "anna") == ["Anna's"]
    assert marked("nothing of it", "passport") == []


def test_pairs_and_single_characters_of_unparted_scripts_are_marked():
    assert marked("明日東京駅で", "東京駅") == ["東京駅"]
    assert marked("東京と京都", "京") == ["京", "京"]


def test_words_of_phrases_are_marked_with_their_little_words():
    assert marked("born to be", '"to be"') == ["to", "be"]


def test_an_excerpt_is_where_the_words_are():
    text = f"{'before ' * 100}the passport lies in the blue drawer {'after ' * 100}"
    short = excerpt(text, parse_query("passport drawer", NOW, "UTC"), 80)

    assert len(short) <= 80
    assert "passport lies in the blue drawer" in short
    assert short.startswith("…")
    assert short.endswith("…")


def test_a_short_text_is_its_own_excerpt():
    assert excerpt("the passport", parse_query("passport", NOW, "UTC"), 80) == "the passport"


def test_a_text_without_the_words_is_cut_at_its_end():
    assert excerpt("word " * 100, parse_query("passport", NOW, "UTC"), 40).startswith("word word")


def test_a_word_is_looked_at_once_however_often_a_text_says_it(monkeypatch):
    looked = []
    monkeypatch.setattr(marking, "pieces", lambda word: looked.append(word) or pieces(word))

    assert excerpt("zebra " * 50_000, parse_query("zebra", NOW, "UTC"), 80) == f"{'zebra ' * 13}".rstrip() + "…"
    assert looked == ["zebra"]


@given(st.text(max_size=200), st.text(max_size=40), st.integers(8, 60))
def test_marks_lie_within_any_text_in_order(text, asked, size):
    query = query_of_text(asked, NOW, "UTC")
    found = spans(text, query)

    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))
    assert len(excerpt(text, query, size)) <= max(size, min(len(text), size))
