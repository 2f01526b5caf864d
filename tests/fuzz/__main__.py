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
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import redis
import structlog
from arguments import positive
from reports import write_block
from servers import BINARIES
from stores import embedded

from fuzz.game import ALIASES, ALWAYS, ARCHIVE, CLUSTER, VERBS
from fuzz.playing import OPERATIONS, minimal, plan, play, told
from fuzz.slots import started

_HANGS_S = 300  # a seed takes seconds: after this long every thread says where it is, and the process ends
_EVENTS = {  # what is counted when it happens, whichever verb causes it: the group of games -> label -> event
    ALWAYS: {
        "amend": "amend.lua",
        "buffer": "buffer.lua",
        "reflect, slow and overtaken": "reflect.lua superseded",
        "crash between two commands": "died",
    },
    ARCHIVE: {"drop from Redis": "archive.lua", "bring back into Redis": "bring_back.lua"},
    ALIASES: {"a plain write under an alias": "readdress.lua"},
    CLUSTER: {
        "a command was sent on to where its keys go (ASK)": "ASK",
        "a command was sent on to where its slot is (MOVED)": "MOVED",
        "a command waited for its slot (TRYAGAIN)": "TRYAGAIN",
    },
}
_INVARIANTS = """\
After every step, read from outside with plain redis-py: every acknowledged message is covered at least once and every
message at most once (raw, sealed, or named by an observation in force or replaced by a generation); what its owner removed
does not come back; recall finds every message that is kept by a word of its own, once, and none that is not; all pieces of
a message together say, once, what was said under its id, which only grows, or is replaced while raw; every receipt says
what became of each message, and a history that was synced adds exactly what is new; an id is known while anything of its
message is kept, and free once that has expired and a sweep came by; every text holds the id of every message that it
covers, and the generation in force those of all it replaced; no finished observation is lost or changed; observations only
grow at their end, each thread in order of sealing; what Redis says was archived stands in the archive, which every second
seed has, and in Redis no longer, and what an owner removed is in no row of it;
what is pinned stands in the generation in force or in an observation, and stays pinned until somebody lets it go or
removes it; counters equal what is there; no sealed set,
chunk or generation is orphaned; a memory that moved there and back says what it said, each line as often as before
and once more for each thread that reflected it since; of every review one decision is made; a field of a working memory says
what was written last, or what is under way; a context shows each note of another memory that is in force once, and none where
nobody asked for it; a name that stands for another thread holds nothing; what a copy has it has once. At the end everybody comes
to rest: nothing is left unobserved, and `om verify` finds nothing.
"""


def _say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _play(client, seed):
    """A seed, and what happened in it: None where it failed."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    faulthandler.dump_traceback_later(_HANGS_S, exit=True)
    try:
        return seed, play(seed, plan(seed, client), client).verbs
    except Exception as error:  # noqa: BLE001 -- whatever the product raises is a finding; it is played again below
        _say(f"seed {seed}: {type(error).__name__}: {error}"[:500])
        return seed, None
    finally:
        faulthandler.cancel_dump_traceback_later()


def _play_by_url(url, seed):
    with redis.Redis.from_url(url) as client:
        return _play(client, seed)


@contextlib.contextmanager
def _server(words):
    """A client of the server, and the outcome of each seed, in processes."""
    named = os.environ.get("TEST_REDIS_URL")
    with (
        contextlib.nullcontext(named) if named else embedded() as url,
        redis.Redis.from_url(url) as client,
        ProcessPoolExecutor(words.jobs) as pool,
    ):
        try:
            yield client, partial(pool.map, partial(_play_by_url, url))
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _cluster(words):
    """The same on a Cluster, one game after another: slots are moved under one at a time."""
    with tempfile.TemporaryDirectory() as folder, started(Path(folder), words.cluster) as client:
        yield client, partial(map, partial(_play, client))


def main():
    """Play; 0 when every seed was clean and every verb happened often enough, else 1."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seeds", type=positive(int), default=500, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--cluster", choices=["1", *sorted(BINARIES)], default="", help="on one whose slots move")
    parser.add_argument("--write", action="store_true", help="write the report into docs/reliability.md")
    words, begun, counted = parser.parse_args(), time.monotonic(), Counter()
    with (_cluster if words.cluster else _server)(words) as (client, played):
        for seed, found in played(range(words.first, words.first + words.seeds)):
            if found is None:
                return _tell(seed, client)
            counted.update(found)
        return _judge(counted, words, time.monotonic() - begun, client)


def _tell(seed, client):
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    _say(f"seed {seed} failed; looking for the shortest history...")
    left, error = minimal(seed, plan(seed, client), client)
    if error is None:
        _say(f"seed {seed} did not fail again: repeat with --first {seed} --seeds 1")
    else:
        _say(f"{len(left)} operations are enough:\n{told(seed, error)}")
    return 1


def _shares(counted, *groups):
    """How often each thing that a reader looks for happened in games of these groups, by its label."""
    events = {label: event for group in groups for label, event in _EVENTS[group].items()}
    verbs = {verb.label: verb.counted for verb in VERBS.values() if verb.label and verb.group in groups}
    return {label: counted[event] for label, event in (events | verbs).items()}


def _judge(counted, words, seconds, client):
    steps, about = words.seeds * OPERATIONS, client.info("server")
    server = f"Valkey {about['valkey_version']}" if "valkey_version" in about else f"Redis {about['redis_version']}"
    server = f"a Cluster of {server}" if words.cluster else server
    text = f"{words.seeds:,} seeds, {steps:,} steps, on {server}, in {seconds / 60:.1f} minutes: no invariant was broken.\n\n"
    always, on_a_cluster = _shares(counted, ALWAYS), _shares(counted, CLUSTER)
    if words.cluster:  # what came beside the same verbs and invariants
        rows = ["| in so many steps | |", *(f"| {label} | {times:,} |" for label, times in on_a_cluster.items())]
    else:
        shares = sorted(_shares(counted, ALWAYS, ARCHIVE, ALIASES).items(), key=lambda pair: -pair[1])
        rows = ["| verb | of all steps |", *(f"| {label} | {100 * times / steps:.1f} % |" for label, times in shares)]
        text += f"{_INVARIANTS}\n\n"
    text += "\n".join([rows[0], "|---|---|", *rows[1:]])
    _say(text)
    if words.write:
        write_block("fuzz-cluster" if words.cluster else "fuzz", text)
    expected = on_a_cluster if words.cluster else always
    if missing := [label for label, times in expected.items() if 3 * len(always) * times < steps]:
        _say(f"\ntoo rare (under a third of an even share of all steps): {', '.join(missing)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
