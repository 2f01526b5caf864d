"""The stand that everything is measured on: one store, our client and workers on it, and the bare client library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis

from om_api.cli.embedded import Embedded
from om_bench.harness.pipeline import Pipeline, pipeline


class Stand:
    """A store at `url`: `running` is our client and the workers behind it, `bare` is redis-py with nothing of ours."""

    def __init__(self, url: str, running: Pipeline, bare: redis.Redis) -> None:
        self.url, self.running, self.bare = url, running, bare
        self.om = running.om


@contextmanager
def stand(url: str | None) -> Iterator[Stand]:
    """A stand on the store of `url`, whose keys `om-bench:…` it uses, or on one of its own; StoreError when it is away."""
    if url is None:
        with Embedded() as store, stand(store.url) as made:
            yield made
        return
    with pipeline(url, {}) as running, redis.Redis.from_url(url) as bare:
        running.om.ping()
        yield Stand(url, running, bare)
