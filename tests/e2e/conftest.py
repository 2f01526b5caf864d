"""Real processes: a worker and a beat of our own on a real server, as `celery -A om_workers.app …` starts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest
import redis
from world import wait_until

from om_api import ObservationalMemory, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_YAML = """
observational_memory:
  tokenizer: estimate
  observer_model: echo
  reflector_model: echo
models:
  echo: {provider: scripted}
  echo-slow: {provider: scripted, options: {delay: 0.3}}
"""


class Running(NamedTuple):
    """A house that runs: its config folder, a client, a plain Redis client, its prefix, and the worker's log."""

    config: Path
    om: ObservationalMemory
    client: redis.Redis
    prefix: str
    environment: dict[str, str]
    log: Path


@pytest.fixture
def run(server_url: str, prefix: str, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start a worker and a beat with these settings, stop them by their ids afterwards."""
    processes: list[subprocess.Popen[bytes]] = []
    client = redis.Redis.from_url(server_url)
    clients: list[ObservationalMemory] = []

    def start(files: dict[str, str] | None = None, **settings: str) -> Running:
        for name, text in {"observational-memory.yaml": _YAML, **(files or {})}.items():
            path = tmp_path / "config" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        fixed = {"OM_CONFIG_DIR": str(tmp_path / "config"), "OM_REDIS_URL": server_url, "OM_PREFIX": prefix}
        # a broker of this test's own: the queues of another test's workers must not mix with ours
        broker = server_url.rsplit("/", 1)[0] + f"/{1 + abs(hash(prefix)) % 15}"
        ticks = {"OM_OBSERVER_INTERVAL": "0.2s", "OM_REFLECTOR_INTERVAL": "0.3s", "OM_BROKER_URL": broker}
        named = {f"OM_{key.upper()}": value for key, value in settings.items()}
        environment = {**fixed, **ticks, **named}
        with redis.Redis.from_url(broker) as queues:
            queues.delete("ticks", "observe", "reflect", "maintenance")
        log = tmp_path / "workers.log"
        commands = (["worker", "-c", "8", "--without-gossip", "--without-mingle"], ["beat"])
        processes.extend(_spawn(words, environment, log, tmp_path) for words in commands)
        om = ObservationalMemory(
            load_settings(environ={k: v for k, v in environment.items() if k in {**fixed, **named}})
        )
        clients.append(om)
        wait_until(lambda: b"ready" in log.read_bytes(), f"the worker; its log: {log}", 30)
        return Running(tmp_path / "config", om, client, prefix, environment, log)

    yield start
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for om in clients:
        om.close()
    if left := list(client.scan_iter(f"{prefix}*", count=1000)):
        client.unlink(*left)
    client.close()


def _spawn(words: list[str], environment: dict[str, str], log: Path, cwd: Path) -> subprocess.Popen[bytes]:
    keep = {key: value for key, value in os.environ.items() if not key.startswith("OM_")}
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "om_workers.app", *words, "-l", "INFO"],
            env={**keep, **environment},
            cwd=cwd,
            stdout=out,
            stderr=out,
        )
