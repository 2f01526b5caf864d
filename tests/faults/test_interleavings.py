"""Three seeded interleavings; `make fuzz` plays hundreds. See fuzz/game.py for what can happen.

Nightly tests show that each guard, taken out, is found within two hundred seeds.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import redis
import structlog
from fuzz.guards import GUARDS, OF_A_CLUSTER
from fuzz.playing import failure, plan, told
from fuzz.slots import started
from redis.crc import key_slot

from om_api.store.driver.connection import Connection
from om_api.store.driver.replies import as_fields

_ENOUGH = 200
_ENOUGH_THERE = 20
_FOUND = {  # a place of a task was put back by each sweep
    1032: [(37, "push_twins"), (43, "part"), (47, "claim"), (57, "work")]
}


@pytest.fixture(autouse=True)
def _quiet():
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)


@pytest.fixture(scope="module")
def plain(server_url):
    with redis.Redis.from_url(server_url) as client:
        yield client


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory):
    with started(tmp_path_factory.mktemp("moving")) as client:
        yield client


@pytest.mark.parametrize("seed", range(3))
def test_no_interleaving_loses_or_doubles_a_message(seed, plain):
    if found := failure(seed, plan(seed, plain), plain):
        pytest.fail(told(seed, found))


@pytest.mark.parametrize("seed", _FOUND)
def test_a_history_that_broke_an_invariant_once_breaks_none(seed, plain):
    if found := failure(seed, _FOUND[seed], plain):
        pytest.fail(told(seed, found))


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name.partition(":")[0])
def test_a_guard_that_is_taken_out_is_found_within_two_hundred_seeds(guard, plain, monkeypatch):
    guard.take_out(monkeypatch)
    found = next((seed for seed in (guard.seed, *range(_ENOUGH)) if failure(seed, plan(seed, plain), plain)), None)
    assert found is not None, f"nobody noticed: {guard.name}"


@pytest.mark.nightly
def test_a_thread_that_no_game_leads_is_answered_though_its_slot_is_on_its_way(everywhere, prefix):
    """An archiver's, which the game waits for: while it waits nobody else moves the slot, and both would stand still."""
    slots, names = everywhere.slots, [f"{prefix}:{{one}}:{n}" for n in range(300)]
    for name in names:
        everywhere.set(name, "kept")
    slots.leave(key_slot(names[0].encode()))
    slots.go_on()  # some have gone, others have not: TRYAGAIN
    with ThreadPoolExecutor(1) as thread, closing(slots.stoppable()) as client:
        found = thread.submit(Connection(client).run, as_fields("MGET", *names)).result(60)
    assert found == [b"kept"] * 300
    slots.rest()
    everywhere.unlink(*names)


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("guard", OF_A_CLUSTER, ids=lambda guard: guard.name.partition(":")[0])
def test_what_follows_slots_is_found_missing_within_twenty_seeds(guard, everywhere, monkeypatch):
    guard.take_out(monkeypatch)
    seeds = range(_ENOUGH_THERE)
    found = next((error for seed in seeds if (error := failure(seed, plan(seed, everywhere), everywhere))), None)
    assert found is not None, f"nobody noticed: {guard.name}"
