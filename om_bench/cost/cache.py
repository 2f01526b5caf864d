"""A provider's prompt cache: what of a request it serves again, what it takes in, what stays fresh, by the rules we know."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from om_api.domain.errors import InvalidInputError
from om_api.settings import prompt_caches
from om_api.settings.prompt_caches import CacheRules
from om_bench.cost.wire import Piece

# Prices of cached input differ more than anything else: a twentieth of fresh input, a tenth, a quarter.
ACTORS = ("claude-sonnet-4-6", "gpt-5.2", "gemini-2.5-pro", "gpt-4.1", "claude-sonnet-5-5", "deepseek-v4-pro")
OBSERVERS = ("gemini-2.5-flash", "gemini-2.5-flash-lite")


def rules_of(model: str) -> CacheRules:
    """The rules of the provider that serves a model; raises InvalidInputError where we know none."""
    found = prompt_caches.rules_of(model)
    if found is None:
        known = ", ".join(pattern for rules in prompt_caches.table() for pattern in rules.patterns)
        raise InvalidInputError(f"how {model} caches prompts is not known here: name one of {known}")
    return found


class Split(NamedTuple):
    """Tokens of one request by what they cost: `written` enters the cache at a price of its own."""

    fresh: int
    cached: int = 0
    written: int = 0


class _End(NamedTuple):
    """Where a piece ends: what stands before it, as one number, and how many tokens that is."""

    prefix: int
    tokens: int
    mark: bool


class Cache:
    """The cache of one account; requests come in the order of their times, in seconds."""

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._used: dict[int, float] = {}

    def take(self, at: float, pieces: Sequence[Piece]) -> Split:
        """Serve one request, and keep what the rules keep of it."""
        ends = list(_ends(pieces))
        if not ends:
            return Split(0)
        return self._at_breakpoints(at, ends) if self._rules.lookback else self._by_itself(at, ends)

    def _by_itself(self, at: float, ends: Sequence[_End]) -> Split:
        """The longest prefix known, in whole steps; all of the request is kept."""
        step, total = self._rules.step, ends[-1].tokens
        held = max((end.tokens for end in ends if self._lives(end, at)), default=0) // step * step
        self._used.update((end.prefix, at) for end in ends)
        cached = held if held >= self._rules.minimum else 0
        return Split(total - cached, cached)

    def _at_breakpoints(self, at: float, ends: Sequence[_End]) -> Split:
        """The longest prefix found from any breakpoint backwards; what lies between it and the last one is written."""
        marks = [place for place, end in enumerate(ends) if end.mark and end.tokens >= self._rules.minimum]
        looked = {max(0, mark - back) for mark in marks for back in range(self._rules.lookback + 1)}
        found = max((place for place in looked if self._lives(ends[place], at)), default=None)
        cached = 0 if found is None else ends[found].tokens
        until = ends[marks[-1]].tokens if marks else 0
        kept = marks if found is None else [*marks, found]
        self._used.update((ends[place].prefix, at) for place in kept)
        return Split(ends[-1].tokens - until, cached, until - cached)

    def _lives(self, end: _End, at: float) -> bool:
        used = self._used.get(end.prefix)
        return used is not None and at - used <= self._rules.lifetime


def _ends(pieces: Sequence[Piece]) -> Iterator[_End]:
    prefix = tokens = 0
    for piece in pieces:
        prefix, tokens = hash((prefix, piece.text)), tokens + piece.tokens
        yield _End(prefix, tokens, piece.mark)
