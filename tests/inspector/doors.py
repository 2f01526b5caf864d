"""The doors of a memory, as the inspector's command line is told of them; and the memory that is behind them."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import redis
from key_ring import KeyRing
from ports import reserve_port
from processes import started
from world import World, wait_until

from om_api.cli.embedded import Embedded

OM = str(Path(sys.executable).with_name("om"))
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
    port, environ = str(reserve_port()), {**os.environ, "OM_REDIS_URL": behind.url, "OM_PREFIX": PREFIX}
    address = f"http://127.0.0.1:{port}"
    _, token = KeyRing(behind.world.settings, client=behind.world.client).create(["harold"], "operator")
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started([OM, "api", "--port", port], env=environ, **quiet):
        wait_until(lambda: _answers(address), "the API", 60)
        yield [f"{address}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {token}"]


def _answers(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/readyz").is_success
    except httpx2.TransportError:
        return False
