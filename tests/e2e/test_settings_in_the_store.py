"""A worker that runs goes by what the store says of settings within seconds, and so do the memories of before."""

from world import wait_until

from om_api import load_settings
from om_api.store.driver.connection import Connection
from om_api.store.fleet import health, stored_settings
from om_api.store.memory.keys import Keys


def _threshold(house, resource):
    return house.om.stats(resource).message_threshold


def test_an_entry_is_in_force_in_a_running_worker_and_for_memories_of_before(run):
    house = run(observer_interval="0.2s")
    keys, store = Keys(house.prefix), Connection(house.client)
    house.client.hset(
        keys.settings, mapping={"x" * 100_000: "[", b"\xff": b"\xfe", "broken": "observational_memory: ["}
    )
    house.say(70)  # a chunk of 6,000 tokens: its record holds what is in force
    wait_until(lambda: house.om.stats("harold").ready_chunks, "a chunk of harold's", 60)
    before = _threshold(house, "harold")
    text = "observational_memory: {message_threshold: 5000, min_recent_messages: 0}"
    store.run(stored_settings.keep(keys, "harold", None, text))
    wait_until(lambda: _threshold(house, "harold") == 5000, "what the store says in harold's record", 60)
    wait_until(lambda: house.om.stats("harold").observations, "harold's observations, by the new threshold", 60)
    settings = load_settings(environ=house.environment)
    settings.refresh(store.run(stored_settings.read(keys, settings.stored)))

    def digests():
        return {worker.settings for worker in store.run(health.workers(keys))}

    wait_until(lambda: digests() == {settings.fingerprint}, "a worker that goes by the same settings", 60)
    house.client.delete(keys.settings)
    assert before == 30_000
    assert b"settings_problem" in house.log.read_bytes()
