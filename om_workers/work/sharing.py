"""Sharing: small chunks of several threads are observed in one call, so that each does not pay for the prompt anew."""

from __future__ import annotations

from collections.abc import Iterable

from om_api.domain.values import Chunk


def batches(chunks: Iterable[Chunk], most: int) -> list[list[Chunk]]:
    """Group chunks of different threads, in their order, into calls of less than `most` tokens; a larger one is alone.

    A chunk that was tried before is alone: had the call failed because of it, the others would fail with it again.
    """
    found: list[list[Chunk]] = []
    room = 0
    for chunk in chunks:
        alone = chunk.attempts > 0
        if alone or chunk.tokens >= room:
            found.append([])
            room = most
        found[-1].append(chunk)
        room = 0 if alone else room - chunk.tokens
    return found
