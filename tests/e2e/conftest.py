"""Real processes: a worker and a beat of our own on a real server, as `celery -A om_workers.app …` starts them."""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis
from processes import BEAT, WORKER, inherited, started
from world import wait_until

from om_api import Message, ObservationalMemory, load_settings

_YAML = """
observational_memory:
  tokenizer: estimate
  observer_model: echo
  reflector_model: echo
models:
  echo: {provider: scripted}
  echo-slow: {provider: scripted, options: {delay: 0.3}}
"""


def pytest_itemcollected(item: pytest.Item) -> None:
    """What starts processes runs in `make nightly`, unless it is one of the few smoke tests."""
    if not item.get_closest_marker("smoke"):
        item.add_marker("nightly")


class Running(NamedTuple):
    """A house that runs: its config folder, a client, a plain Redis client, its prefix, its log, and its broker. `spawn` starts
    one more process of it, with variables of its own, and waits until it is ready."""

    config: Path
    om: ObservationalMemory
    client: redis.Redis
    prefix: str
    environment: dict[str, str]
    log: Path
    broker: str
    spawn: Callable[..., subprocess.Popen[bytes]]

    def say(self, many: int, resource: str = "harold", first: int = 0, text: str = "", tokens: int = 100) -> list[str]:
        """Push so many messages, which are what they are called unless there is a text; their ids."""
        ids = [f"{resource}-{n}" for n in range(first, first + many)]
        fields: dict[str, Any] = {"role": "user", "thread_id": "t-1", "resource_id": resource, "tokens": tokens}
        self.om.add_messages([Message(id=name, content=text or name, **fields) for name in ids])
        return ids


@pytest.fixture
def run(server_url: str, prefix: str, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start a beat and a worker with these settings, on the tests' server or on the one at `url`."""
    log = tmp_path / "workers.log"

    def start(
        files: dict[str, str] | None = None, commands: Any = (BEAT, WORKER), url: str = server_url, **settings: str
    ) -> Running:
        config = tmp_path / "config"
        for name, text in {"observational-memory.yaml": _YAML, **(files or {})}.items():
            (config / name).parent.mkdir(parents=True, exist_ok=True)
            (config / name).write_text(text)
        fixed = {"OM_CONFIG_DIR": str(config), "OM_REDIS_URL": url, "OM_PREFIX": prefix}
        named = {f"OM_{key.upper()}": value for key, value in settings.items()}
        # a broker of this test's own: the queues of another test's workers must not mix with ours
        broker = url.rsplit("/", 1)[0] + f"/{1 + abs(hash(prefix)) % 15}"
        ticks = {"OM_OBSERVER_INTERVAL": "0.2s", "OM_REFLECTOR_INTERVAL": "0.3s", "OM_BROKER_URL": broker}
        environment = {**fixed, **ticks, **named}
        with redis.Redis.from_url(broker) as queues:
            queues.delete("ticks", "observe", "reflect", "maintenance")

        def spawn(*words: str, **own: str) -> subprocess.Popen[bytes]:
            before, out = _ready(log), running.enter_context(log.open("ab"))
            command = [sys.executable, "-m", "celery", "-A", "om_workers.app", *words, "-l", "INFO"]
            environ = {**inherited(), **environment, **own}
            process = running.enter_context(started(command, env=environ, cwd=tmp_path, stdout=out, stderr=out))
            if words[0] == "worker":
                wait_until(lambda: _ready(log) > before, f"the worker; its log: {log}", 60)
            return process

        for words in commands:
            spawn(*words)
        om = running.enter_context(ObservationalMemory(load_settings(environ={**fixed, **named})))
        return Running(config, om, redis.Redis.from_url(url), prefix, environment, log, broker, spawn)

    with contextlib.ExitStack() as running:
        yield start
    with redis.Redis.from_url(server_url) as client:
        if left := list(client.scan_iter(f"{prefix}*", count=1000)):
            client.unlink(*left)


def _ready(log: Path) -> int:
    return log.read_bytes().count(b" ready.") if log.exists() else 0
