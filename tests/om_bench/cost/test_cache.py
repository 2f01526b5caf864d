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


def test_only_what_ended_at_a_breakpoint_is_found_again():
    _, second = served(ANTHROPIC, ("a:2000", "b:500|"), ("a:2000", "c:500|"))

    assert second == Split(fresh=0, cached=0, written=2500)


def test_below_1024_tokens_a_breakpoint_is_none():
    for tokens, expected in [(1023, Split(1023)), (1024, Split(0, 1024, 0))]:
        assert served(ANTHROPIC, (f"a:{tokens}|",), (f"a:{tokens}|",))[1] == expected, (tokens, expected)


def test_a_prefix_is_gone_five_minutes_after_its_last_use():
    for gap, cached in [(300, 2000), (301, 0)]:
        assert served(ANTHROPIC, ("a:2000|",), ("a:2000|",), gap=gap)[1].cached == cached, (gap, cached)


def test_openai_serves_whole_steps_of_128_from_1024_on_and_writing_costs_nothing():
    for common, cached in [(1000, 0), (1024, 1024), (1151, 1024), (1152, 1152), (2000, 1920)]:
        _, second = served(OPENAI, (f"a:{common}", "b:300"), (f"a:{common}", "c:300"))

        assert second == Split(fresh=common + 300 - cached, cached=cached), (common, cached)
        assert OPENAI.write == 1, (common, cached)


def test_each_provider_has_its_own_minimum():
    for rules, least in [(GEMINI_2, 2048), (GEMINI, 4096), (DEEPSEEK, 64)]:
        found = [served(rules, (f"a:{tokens}",), (f"a:{tokens}",))[1].cached for tokens in (least - 1, least)]
        assert found == [0, least], rules


def test_a_model_whose_rules_are_not_known_is_refused_with_those_that_are():
    with pytest.raises(InvalidInputError, match=r"gpt-5\.6-terra.*claude-\*"):
        rules_of("gpt-5.6-terra")
    assert all(map(rules_of, (*ACTORS, *OBSERVERS)))
