"""`make fuzz SEEDS=500`: play seeds on a real server; print the report, or the shortest history of the first that fails."""

import argparse
import contextlib
import logging
import os
import secrets
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import redis
import structlog
from reports import write_block
from stores import embedded

from fuzz import report
from fuzz.minimal import minimal, sweep_away, told
from fuzz.playing import OPERATIONS, plan, play


def _one(url: str, operations: int, seed: int) -> tuple[int, Counter[str] | None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    prefix = f"fuzz-{secrets.token_hex(4)}:om"
    with redis.Redis.from_url(url) as client:
        try:
            return seed, play(seed, plan(seed, operations), client, prefix).verbs
        except Exception:  # noqa: BLE001 -- whatever the product raises is a finding; it is played again below
            return seed, None
        finally:
            sweep_away(client, prefix)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _words() -> argparse.Namespace:
    words = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    words.add_argument("--seeds", type=int, default=500, help="how many")
    words.add_argument("--first", type=int, default=0, help="the first of them")
    words.add_argument("--operations", type=int, default=OPERATIONS, help="of each seed")
    words.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    words.add_argument("--write", action="store_true", help="write the report into docs/reliability.md")
    return words.parse_args()


def main() -> int:
    """Play; 0 when every seed was clean and every verb happened often enough, else 1."""
    words, begun = _words(), time.monotonic()
    named = os.environ.get("OM_TEST_REDIS_URL")
    with contextlib.nullcontext(named) if named else embedded() as url:
        verbs: Counter[str] = Counter()
        with ProcessPoolExecutor(words.jobs) as pool:
            seeds = range(words.first, words.first + words.seeds)
            for seed, found in pool.map(partial(_one, url, words.operations), seeds):
                if found is None:
                    pool.shutdown(cancel_futures=True)
                    return _tell(seed, words.operations, url)
                verbs.update(found)
        return _judge(verbs, words, time.monotonic() - begun, url)


def _tell(seed: int, operations: int, url: str) -> int:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    _say(f"seed {seed} failed; looking for the shortest history...")
    with redis.Redis.from_url(url) as client:
        left, error = minimal(seed, plan(seed, operations), client)
    if error is None:
        _say(f"seed {seed} did not fail again: repeat with --first {seed} --seeds 1")
    else:
        _say(f"{len(left)} operations are enough:\n{told(seed, error)}")
    return 1


def _judge(verbs: Counter[str], words: argparse.Namespace, seconds: float, url: str) -> int:
    steps = words.seeds * words.operations
    with redis.Redis.from_url(url) as client:
        about = client.info("server")
    server = f"Valkey {about['valkey_version']}" if "valkey_version" in about else f"Redis {about['redis_version']}"
    text = report.table(verbs, words.seeds, steps, seconds, server)
    _say(text)
    if words.write:
        write_block("fuzz", text)
    if missing := report.rare(verbs, steps):
        _say(f"\ntoo rare (under a third of an even share of all steps): {', '.join(missing)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
