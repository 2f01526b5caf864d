"""From a seed that fails to the few operations that it takes."""

import secrets
from collections.abc import Sequence
from typing import Any

import redis

from fuzz.playing import play

_REPLAYS = 200


def failure(seed: int, operations: Sequence[tuple[int, str]], client: redis.Redis) -> BaseException | None:
    """What a seed fails with, None when it does not."""
    prefix = f"fuzz-{secrets.token_hex(4)}:om"
    try:
        play(seed, operations, client, prefix)
    except Exception as error:  # noqa: BLE001 -- whatever the product raises is a finding
        return error
    finally:
        sweep_away(client, prefix)
    return None


def sweep_away(client: redis.Redis, prefix: str) -> None:
    """Remove whatever a game left."""
    if left := list(client.scan_iter(f"{prefix}*", count=10_000)):
        client.unlink(*left)


def minimal(seed: int, operations: Sequence[tuple[int, str]], client: redis.Redis) -> tuple[list[tuple[int, str]], Any]:
    """Leave out operations, by halves, quarters and so on, while the seed still fails; the rest, and its failure."""
    left, last, size = list(operations), failure(seed, operations, client), max(1, len(operations) // 2)
    for _ in range(_REPLAYS):
        for start in range(0, len(left), size):
            fewer = left[:start] + left[start + size :]
            if found := failure(seed, fewer, client):
                left, last = fewer, found
                break
        else:
            if size == 1:
                break
            size = max(1, size // 2)
    return left, last


def told(seed: int, error: Any) -> str:
    """A failure as a history that a person can follow."""
    game = getattr(error, "game", None)
    lines = game.history if game else []
    return "\n".join([f"seed {seed}: {type(error).__name__}: {error}", *(line[:600] for line in lines)])
