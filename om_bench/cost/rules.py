"""How providers cache prompts, as data. Prices are no part of it: those are om_api's, but for what writing costs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from om_api.domain.errors import InvalidInputError


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
    ("gpt-5-", OPENAI),
    ("gpt-5.1", OPENAI),
    ("gpt-5.2", OPENAI),
    ("gpt-5.3", OPENAI),
    ("gpt-5.4", OPENAI),
    ("gpt-5.5", OPENAI),
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
