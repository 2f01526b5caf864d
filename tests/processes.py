"""Processes of a test's own: none of them outlives it, and Ctrl-C reaches them wherever the tests are run from."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
from ports import reserve_port
from world import wait_until

OM = str(Path(sys.executable).with_name("om"))
WORKER = ("worker", "-c", "8", "--without-gossip", "--without-mingle")
BEAT = ("beat",)


@contextlib.contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A process while the block runs; one that has not ended by then is killed, so that a failed test leaves nothing."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def api_started(environ: Mapping[str, str], *words: str, **options: Any) -> Iterator[str]:
    """`om api` on a port of its own while the block runs, with further words: its URL, once it is ready."""
    port = str(reserve_port())
    url = f"http://127.0.0.1:{port}"
    with started([OM, "api", "--port", port, *words], env={**inherited(), **environ}, **options):
        wait_until(lambda: _is_ready(url), "the API", 60)
        yield url


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz").is_success
    except httpx2.TransportError:
        return False


def inherited() -> dict[str, str]:
    """The environment of whoever runs the tests, without settings of ours, which have no say in a test."""
    return {name: text for name, text in os.environ.items() if not name.startswith("OM_")}


def hear_ctrl_c() -> None:
    """Have what tests start hear SIGINT, though these tests were started by a shell that has its jobs ignore it.

    A signal that is ignored stays so in every child; one with a handler has its default there.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)
