"""A house to ask: a store, a real server, a memory that is old already, and workers that go on working."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import redis
from key_ring import KeyRing
from processes import api_started
from stores import embedded
from trial_worker import READY, answer
from world import SMALL, World

from om_api.domain.errors import OMError
from om_workers.work.webhook_sender import Answer
from om_workers.work.webhooks import WebhookRound

PREFIX = "conform:om"


class Door(NamedTuple):
    """Where to ask, and the token of an operator of every resource."""

    url: str
    token: str


@contextlib.contextmanager
def opened(log: Path) -> Iterator[Door]:
    """The house while the block runs; the server's log goes to a file."""
    with embedded() as store, redis.Redis.from_url(store) as client:
        world = World(client, PREFIX)
        grow_old(world)
        _, token = KeyRing(world.settings, client=client).create(["*"], "operator")
        environ = {**SMALL, "OM_REDIS_URL": store, "OM_PREFIX": PREFIX}
        with (
            log.open("wb") as out,
            api_started(environ, cwd=log.parent, stdout=out, stderr=out) as url,
            _working(world),
        ):
            yield Door(url, token)


def grow_old(world: World) -> None:
    """Give harold a generation, observations, chunks, raw messages and a quarantine."""
    world.say("the first message", id="m-1")
    for thread in ("t-1", "t-2"):
        world.say(*[f"message {n}" for n in range(14)], thread=thread)
        world.settle()
    world.om.force_reflect("harold")
    world.settle()
    world.say(*[f"later {n}" for n in range(14)])
    world.settle()
    world.client.zadd(f"{PREFIX}:{{harold}}:messages:t-1", {b'{"role":"robot"}': 1_763_600_000_000})
    world.sweep()


@contextlib.contextmanager
def _working(world: World) -> Iterator[None]:
    ended = threading.Event()
    worker = threading.Thread(target=_work, args=(world, ended), name="worker")
    worker.start()
    try:
        yield
    finally:
        ended.set()
        worker.join()


def _work(world: World, ended: threading.Event) -> None:
    while not ended.wait(0.1):
        with contextlib.suppress(OMError):
            world.sweep()
            world.tick_forgiving()
            WebhookRound(world.services, _arrives).deliver()
            if world.client.exists(world.services.keys.trials):
                answer(world, READY)


async def _arrives(*_: Any, **__: Any) -> Answer:
    """What every webhook is sent arrives, and leaves this machine never."""
    return Answer()


def ask_everything(door: Door, cwd: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Let schemathesis ask everything that the server's own document says may be asked; its report is on stdout."""
    here = Path(__file__).parent
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(here / "schemathesis.toml"), "--no-color"]
    command += ["run", f"{door.url}/v1/openapi.json", "-H", f"Authorization: Bearer {door.token}", *options]
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": str(here.parent)}
    return subprocess.run(command, check=False, cwd=cwd, env=environment, capture_output=True, text=True)
