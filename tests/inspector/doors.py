"""The doors of a memory, as the inspector's command line is told of them; and the memory that is behind them."""

import contextlib
import subprocess
from collections.abc import Iterator
from typing import Any, NamedTuple

import redis
from key_ring import KeyRing
from processes import OM, api_started
from world import World

from om_api.cli.embedded import Embedded

PREFIX = "inspector:om"


class Behind(NamedTuple):
    """Harold's memory: where it is, and an observation and a message of it."""

    url: str
    world: World
    observation: str
    message: str


@contextlib.contextmanager
def memory() -> Iterator[Behind]:
    """A store of its own with observations in it."""
    with Embedded() as store, redis.Redis.from_url(store.url) as client:
        world = World(client, PREFIX)
        for n in range(14):
            world.say(f"Parcel {n} lies in Oslo.", thread="t-1")
            world.settle()
        observation = world.om.observations("harold")[-1]
        yield Behind(store.url, world, observation.id, world.om.sources(observation.id, "harold")[0].id)


def over_stdio(behind: Behind) -> list[str]:
    """How the inspector starts `om mcp`."""
    variables = ["-e", f"OM_REDIS_URL={behind.url}", "-e", f"OM_PREFIX={PREFIX}"]
    return [*variables, OM, "mcp", "--resource", "harold"]


@contextlib.contextmanager
def over_http(behind: Behind) -> Iterator[list[str]]:
    """How the inspector reaches an `om api` that runs, with a key of harold's operator."""
    _, token = KeyRing(behind.world.settings, client=behind.world.client).create(["harold"], "operator")
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with api_started({"OM_REDIS_URL": behind.url, "OM_PREFIX": PREFIX}, **quiet) as url:
        yield [f"{url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {token}"]
