"""A server that goes and comes back: workers and beat outlive it, are quiet meanwhile, and go on by themselves."""

import time

import pytest
from processes import BEAT, WORKER
from servers import Server
from world import wait_until

from om_api import StoreError

_AWAY_S = 6.0
_REPLICAS = "CONFIG SET min-replicas-to-write"
_LINES = 60  # in that time, of both processes; a loop without a pause would write thousands


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    with Server(folder, "--appendonly", "yes", "--appendfsync", "always") as own:
        yield own


@pytest.mark.timeout(240)
def test_workers_outlive_a_server_that_is_away_or_refuses_and_observe_everything_afterwards(run, server):
    """Breaks when a worker gives up its broker, when its heartbeat dies of the first error, when it asks in a loop, or when a
    refusal of the broker's is no reason to try again: a failover would end every worker at once."""
    house = run(commands=(), url=server.url, message_threshold="1000", min_recent_messages="0")
    processes = [house.spawn(*BEAT), house.spawn(*WORKER)]
    ids = house.say(15)
    wait_until(lambda: house.om.observations("harold"), "the first observation", 60)
    server.stop()
    lines, until = _lines(house), time.monotonic() + _AWAY_S
    while time.monotonic() < until:  # an agent goes on trying
        with pytest.raises(StoreError) as refused:
            house.say(1, first=15)
        assert refused.value.stored is not True
        time.sleep(0.5)
    said = _lines(house) - lines
    assert said <= _LINES, f"{said} lines in {_AWAY_S:g} s; the log: {house.log}"
    server.start()
    for refuse, accept in (("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"), (f"{_REPLICAS} 1", f"{_REPLICAS} 0")):
        house.client.execute_command(*refuse.split())
        time.sleep(5)
        house.client.execute_command(*accept.split())
        ids += house.say(15, first=len(ids))
        wait_until(lambda: _all_observed(house), "what was said before and after it to be observed", 60)
    context = house.om.get_context("t-1", "harold")
    raw, text = [message.id for message in context.messages], context.text
    assert [name for name in ids if (name in raw) + (f"[{name}]" in text) != 1] == []
    assert [process.poll() for process in processes] == [None, None]
    assert house.om.verify() == []


def _all_observed(house):
    """Whether nothing is left but what is too little for a chunk."""
    now = house.om.stats("harold")
    return now.message_tokens < 200 and now.chunks == now.ready_chunks


def _lines(house):
    return house.log.read_bytes().count(b"\n")
