"""A provider's prompt cache: its rules, as data, what of a request it serves again, what it takes in, what stays fresh."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_bench.cost.wire import Piece


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider caches, and for how long.

    A prefix of at least `minimum` tokens is kept for `ttl_s` seconds after its last use, and is served in whole `step`s of
    tokens. `write` is what a token costs that enters the cache, as a multiple of a fresh one. With `lookback` nothing is
    kept but what ends at a breakpoint, and each breakpoint looks so many pieces back for what was kept before.
    """

    minimum: int
    step: int = 1
    ttl_s: float = 300
    write: float = 1.0
    lookback: int = 0


# docs.claude.com, "Prompt caching": breakpoints; 5 minutes, renewed by each use; writing 1.25 x, reading as the price table
# says; 1,024 tokens at least for the models that are compared here; 20 blocks before each breakpoint are looked at.
ANTHROPIC = Rules(minimum=1024, write=1.25, lookback=20)
# platform.openai.com, "Prompt caching", models before GPT-5.6: by itself, from 1,024 tokens on, in steps of 128; gone after
# 5 to 10 minutes without use, of which we take the less; writing costs nothing.
OPENAI = Rules(minimum=1024, step=128)
# ai.google.dev, "Context caching", implicit: by itself, 2,048 or 4,096 tokens at least, by model. How long it lives is not
# said: we take it for as long as the others do.
GEMINI_2 = Rules(minimum=2048)
GEMINI = Rules(minimum=4096)
# api-docs.deepseek.com, "Context caching": by itself, on disk, in units of 64 tokens; hours to days, of which we take one hour.
DEEPSEEK = Rules(minimum=64, step=64, ttl_s=3600)

FAMILIES: Sequence[tuple[str, Rules]] = (
    ("claude-", ANTHROPIC),
    ("gpt-4", OPENAI),
    *((f"gpt-5{version}", OPENAI) for version in ("-", ".1", ".2", ".3", ".4", ".5")),
    ("gemini-2.5-", GEMINI_2),
    ("gemini-", GEMINI),
    ("deepseek-", DEEPSEEK),
)


# Prices of cached input differ more than anything else: a twentieth of fresh input, a tenth, a quarter.
ACTORS = ("claude-sonnet-4-6", "gpt-5.2", "gemini-2.5-pro", "gpt-4.1", "claude-sonnet-5-5", "deepseek-v4-pro")
OBSERVERS = ("gemini-2.5-flash", "gemini-2.5-flash-lite")


def rules_of(model: str) -> Rules:
    """The rules of the provider that serves a model; raises InvalidInputError where we know none."""
    found = next((rules for prefix, rules in FAMILIES if model.startswith(prefix)), None)
    if found is None:
        known = ", ".join(f"{prefix}*" for prefix, _ in FAMILIES)
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

    def __init__(self, rules: Rules) -> None:
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
        return used is not None and at - used <= self._rules.ttl_s


def _ends(pieces: Sequence[Piece]) -> Iterator[_End]:
    prefix = tokens = 0
    for piece in pieces:
        prefix, tokens = hash((prefix, piece.text)), tokens + piece.tokens
        yield _End(prefix, tokens, piece.mark)
