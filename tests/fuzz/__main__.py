"""`make fuzz SEEDS=500`: play seeds on a real server; print the report, or the shortest history of the first that fails."""

import argparse
import contextlib
import faulthandler
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import redis
import structlog
from reports import write_block
from servers import BINARIES
from stores import embedded

from fuzz import report
from fuzz.everywhere import started
from fuzz.playing import OPERATIONS, minimal, plan_for, play, prefix_of, sweep_away, told

Played = tuple[int, Counter[str] | None]  # a seed, and its verbs, None where it failed
_HANGS_S = 300  # a seed takes seconds: after this long every thread says where it is, and the process ends


def _one(client: redis.Redis, operations: int, seed: int) -> Played:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    prefix = prefix_of(seed, client)
    faulthandler.dump_traceback_later(_HANGS_S, exit=True)
    try:
        return seed, play(seed, plan_for(client, seed, operations), client, prefix).verbs
    except Exception as error:  # noqa: BLE001 -- whatever the product raises is a finding; it is played again below
        _say(f"seed {seed}: {type(error).__name__}: {error}"[:500])
        return seed, None
    finally:
        sweep_away(client, prefix)
        faulthandler.cancel_dump_traceback_later()


def _one_by_url(url: str, operations: int, seed: int) -> Played:
    with redis.Redis.from_url(url) as client:
        return _one(client, operations, seed)


def _on_a_server(url: str, words: argparse.Namespace, seeds: range) -> Iterator[Played]:
    with ProcessPoolExecutor(words.jobs) as pool:
        try:
            yield from pool.map(partial(_one_by_url, url, words.operations), seeds)
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _server() -> Iterator[tuple[redis.Redis, str]]:
    named = os.environ.get("OM_TEST_REDIS_URL")
    with contextlib.nullcontext(named) if named else embedded() as url, redis.Redis.from_url(url) as client:
        yield client, url


@contextlib.contextmanager
def _cluster(binary: str) -> Iterator[tuple[redis.Redis, str]]:
    with tempfile.TemporaryDirectory() as folder, started(Path(folder), binary) as client:
        yield client, ""


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _words() -> argparse.Namespace:
    words = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    words.add_argument("--seeds", type=int, default=500, help="how many")
    words.add_argument("--first", type=int, default=0, help="the first of them")
    words.add_argument("--operations", type=int, default=OPERATIONS, help="of each seed")
    words.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    words.add_argument("--cluster", choices=["1", *sorted(BINARIES)], default="", help="on one whose slots move")
    words.add_argument("--write", action="store_true", help="write the report into docs/reliability.md")
    return words.parse_args()


def main() -> int:
    """Play; 0 when every seed was clean and every verb happened often enough, else 1."""
    words, begun = _words(), time.monotonic()
    seeds, verbs = range(words.first, words.first + words.seeds), Counter[str]()
    with _cluster(words.cluster) if words.cluster else _server() as (client, url):
        # slots are moved under one game at a time
        alone = map(partial(_one, client, words.operations), seeds)
        for seed, found in _on_a_server(url, words, seeds) if url else alone:
            if found is None:
                return _tell(seed, words.operations, client)
            verbs.update(found)
        return _judge(verbs, words, time.monotonic() - begun, client)


def _tell(seed: int, operations: int, client: redis.Redis) -> int:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    _say(f"seed {seed} failed; looking for the shortest history...")
    left, error = minimal(seed, plan_for(client, seed, operations), client)
    if error is None:
        _say(f"seed {seed} did not fail again: repeat with --first {seed} --seeds 1")
    else:
        _say(f"{len(left)} operations are enough:\n{told(seed, error)}")
    return 1


def _judge(verbs: Counter[str], words: argparse.Namespace, seconds: float, client: redis.Redis) -> int:
    steps, about = words.seeds * words.operations, client.info("server")
    server = f"Valkey {about['valkey_version']}" if "valkey_version" in about else f"Redis {about['redis_version']}"
    ran = report.head(words.seeds, steps, seconds, f"a Cluster of {server}" if words.cluster else server)
    text = report.sent_on(ran, verbs) if words.cluster else report.table(ran, verbs, steps)
    _say(text)
    if words.write:
        write_block("fuzz-cluster" if words.cluster else "fuzz", text)
    if missing := report.rare(verbs, steps, report.OF_A_CLUSTER if words.cluster else report.VERBS):
        _say(f"\ntoo rare (under a third of an even share of all steps): {', '.join(missing)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
