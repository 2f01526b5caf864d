"""A message that freezes whoever observes it: its worker is ended and started again, others go on, and it is found."""

import os
import signal
import subprocess
from pathlib import Path

from processes import BEAT, OM, WORKER, inherited
from world import wait_until

_YAML = """
observational_memory: {tokenizer: estimate, model: quick, message_threshold: 1000, min_recent_messages: 0}
models:
  quick: {provider: scripted}
"""
_TESTS = str(Path(__file__).parents[1])


def _frozen(house):
    """Start a worker, and have it freeze at what alice said."""
    path = os.pathsep.join(filter(None, [_TESTS, os.environ.get("PYTHONPATH")]))
    frozen = house.config / "frozen"
    frozen.unlink(missing_ok=True)
    process = house.spawn(*WORKER, "-I", "freezing", PYTHONPATH=path, FROZEN=str(frozen))
    locks = [*house.client.scan_iter(f"{house.prefix}:{{alice}}:lock:*", count=1000)]
    house.client.delete("none", *locks, f"{house.prefix}:queued:observe")  # what leases do that nobody renews
    house.client.zadd(f"{house.prefix}:due:observe", {"alice": 1})
    wait_until(frozen.exists, "the freeze", 60)
    return process


def test_others_are_observed_the_chunk_is_named_sigterm_ends_the_worker_and_the_message_is_isolated(run):
    house = run({"observational-memory.yaml": _YAML}, commands=(BEAT,))
    (bad,) = house.say(1, "alice", text="freeze", tokens=500)
    first = _frozen(house)
    house.say(4, "bob", tokens=500)
    assert first.wait(30) == -signal.SIGABRT
    second = house.spawn(*WORKER)
    wait_until(lambda: house.om.observations("bob"), "what bob said to be observed", 15)
    second.send_signal(signal.SIGTERM)
    assert second.wait(30) == 0
    third = _frozen(house)
    third.send_signal(signal.SIGTERM)
    assert third.wait(30) == -signal.SIGABRT
    (key,) = house.client.keys(f"{house.prefix}:{{alice}}:chunk:*")
    chunk = key.decode().rpartition(":")[2]
    said = subprocess.run([OM, "doctor"], env={**inherited(), **house.environment}, text=True, capture_output=True,
                          timeout=60, check=False).stdout  # fmt: skip
    assert f"a worker froze on chunk {chunk} of alice (thread t-1)" in said
    assert "2 attempts crashed" in said
    _frozen_no_more(house, bad)


def _frozen_no_more(house, bad):
    house.client.delete(*house.client.keys(f"{house.prefix}:{{alice}}:lock:*"))
    house.client.zadd(f"{house.prefix}:due:observe", {"alice": 1})
    house.spawn(*WORKER)
    wait_until(lambda: house.om.rejected("alice"), "the message in quarantine", 60)
    (entry,) = house.om.rejected("alice")
    assert entry.reason.startswith("crashed: ")
    assert f'"id":"{bad}"' in entry.member
    assert house.om.verify() == []
