"""From a seed that fails to the few operations that it takes."""

import secrets
from collections.abc import Sequence
from typing import Any

import redis

from fuzz.everywhere import Everywhere
from fuzz.playing import OPERATIONS, plan, play

_REPLAYS = 200


def plan_for(client: redis.Redis, seed: int, operations: int = OPERATIONS) -> list[tuple[int, str]]:
    """A seed's operations on such a store."""
    return plan(seed, operations, on_a_cluster=isinstance(client, Everywhere))


def prefix_of(seed: int, client: redis.Redis) -> str:
    """A prefix that nobody else has; on a Cluster of its own a game has the same slots each time."""
    return f"fuzz-{seed if isinstance(client, Everywhere) else secrets.token_hex(4)}:om"


def failure(seed: int, operations: Sequence[tuple[int, str]], client: redis.Redis) -> BaseException | None:
    """What a seed fails with, None when it does not."""
    prefix = prefix_of(seed, client)
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
