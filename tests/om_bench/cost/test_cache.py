"""What a provider's cache serves, against examples that were reckoned by hand."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_bench.cost.cache import ACTORS, OBSERVERS, Cache, Split, rules_of
from om_bench.cost.wire import Piece

ANTHROPIC, OPENAI, GEMINI_2, GEMINI, DEEPSEEK = map(
    rules_of, ("claude-sonnet-4-6", "gpt-5.2", "gemini-2.5-pro", "gemini-3-pro", "deepseek-v4-pro")
)


def sent(*pieces):
    """Pieces as "name:tokens", a breakpoint behind those that end in "|"."""
    parts = [piece.rstrip("|").split(":") for piece in pieces]
    return [Piece(name, int(tokens), piece.endswith("|")) for (name, tokens), piece in zip(parts, pieces, strict=True)]


def served(rules, *requests, gap=10.0):
    cache = Cache(rules)
    return [cache.take(place * gap, sent(*request)) for place, request in enumerate(requests)]


def test_a_growing_history_is_read_at_the_cached_price_and_what_is_new_is_written():
    first, second = served(ANTHROPIC, ("a:1000", "b:500|"), ("a:1000", "b:500", "c:100", "d:60|"))

    assert first == Split(fresh=0, cached=0, written=1500)
    assert second == Split(fresh=0, cached=1500, written=160)


def test_what_stands_behind_the_last_breakpoint_is_fresh_every_time_and_spoils_nothing():
    _, second = served(ANTHROPIC, ("a:1500|", "now:40"), ("a:1500", "b:200|", "later:40"))

    assert second == Split(fresh=40, cached=1500, written=200)


def test_without_a_breakpoint_nothing_is_kept():
    assert served(ANTHROPIC, ("a:5000",), ("a:5000",)) == [Split(5000), Split(5000)]


def test_only_what_ended_at_a_breakpoint_is_found_again():
    _, second = served(ANTHROPIC, ("a:2000", "b:500|"), ("a:2000", "c:500|"))

    assert second == Split(fresh=0, cached=0, written=2500)


def test_an_earlier_breakpoint_is_served_where_a_later_one_is_not():
    _, second = served(ANTHROPIC, ("a:2000|", "b:500|"), ("a:2000|", "c:500|"))

    assert second == Split(fresh=0, cached=2000, written=500)


def test_a_breakpoint_looks_twenty_pieces_back_and_no_further():
    more = [f"p{n}:10" for n in range(19)]
    found = served(ANTHROPIC, ("a:2000|",), ("a:2000", *more, "z:10|"))[1]
    missed = served(ANTHROPIC, ("a:2000|",), ("a:2000", *more, "y:10", "z:10|"))[1]

    assert found == Split(fresh=0, cached=2000, written=200)
    assert missed == Split(fresh=0, cached=0, written=2210)


@pytest.mark.parametrize(("tokens", "expected"), [(1023, Split(1023)), (1024, Split(0, 1024, 0))])
def test_below_1024_tokens_a_breakpoint_is_none(tokens, expected):
    assert served(ANTHROPIC, (f"a:{tokens}|",), (f"a:{tokens}|",))[1] == expected


@pytest.mark.parametrize(("gap", "cached"), [(300, 2000), (301, 0)])
def test_a_prefix_is_gone_five_minutes_after_its_last_use(gap, cached):
    assert served(ANTHROPIC, ("a:2000|",), ("a:2000|",), gap=gap)[1].cached == cached


def test_each_use_renews_what_is_kept():
    assert [split.cached for split in served(ANTHROPIC, *[("a:2000|",)] * 4, gap=200)] == [0, 2000, 2000, 2000]


@pytest.mark.parametrize(("common", "cached"), [(1000, 0), (1024, 1024), (1151, 1024), (1152, 1152), (2000, 1920)])
def test_openai_serves_whole_steps_of_128_from_1024_on_and_writing_costs_nothing(common, cached):
    _, second = served(OPENAI, (f"a:{common}", "b:300"), (f"a:{common}", "c:300"))

    assert second == Split(fresh=common + 300 - cached, cached=cached)
    assert OPENAI.write == 1


@pytest.mark.parametrize(("rules", "least"), [(GEMINI_2, 2048), (GEMINI, 4096), (DEEPSEEK, 64)])
def test_each_provider_has_its_own_minimum(rules, least):
    def cached(tokens):
        return served(rules, (f"a:{tokens}",), (f"a:{tokens}",))[1].cached

    assert (cached(least - 1), cached(least)) == (0, least)


def test_deepseek_serves_units_of_64_for_an_hour():
    requests = (("a:100", "b:5"), ("a:100", "c:5"))

    assert served(DEEPSEEK, *requests, gap=3600)[1] == Split(fresh=41, cached=64)
    assert served(DEEPSEEK, *requests, gap=3601)[1] == Split(fresh=105)


def test_the_same_words_in_another_place_are_not_served():
    assert served(OPENAI, ("a:2000", "b:2000"), ("b:2000", "a:2000"))[1] == Split(4000)


def test_a_model_whose_rules_are_not_known_is_refused_with_those_that_are():
    with pytest.raises(InvalidInputError, match=r"gpt-5\.6-terra.*claude-\*"):
        rules_of("gpt-5.6-terra")
    assert all(map(rules_of, (*ACTORS, *OBSERVERS)))
