"""RabbitMQ as the broker of real processes: work is done, tools tell what waits, and its death loses no memory."""

import pytest
from processes import BEAT, WORKER
from rabbitmq import RabbitMQ, binary
from world import wait_until

from om_api import load_settings
from om_api.ops import doctor, queues
from om_api.ops.diagnosis import OK
from om_api.store.fleet.health import QUEUES

_SLOW = """
observational_memory: {observer_model: slow, tokenizer: estimate}
models:
  slow: {provider: scripted, options: {delay: 0.5}}
"""

pytestmark = pytest.mark.skipif(not binary(), reason="RabbitMQ is not installed: apt-get install rabbitmq-server")


@pytest.fixture
def broker(tmp_path):
    with RabbitMQ(tmp_path / "rabbitmq") as own:
        yield own


def _observed(house, name):
    return house.om.stats(name).observations + house.om.stats(name).ready_chunks > 0


@pytest.mark.timeout(240)
def test_a_worker_and_a_beat_go_on_when_the_broker_is_killed_in_the_middle_of_tasks_and_is_back(run, broker):
    house = run({"observational-memory.yaml": _SLOW}, commands=(WORKER, BEAT), broker_url=broker.url)
    settings = load_settings(environ=house.environment)
    house.say(40, "harold", text="The parcel leaves Lisbon.", tokens=1_000)
    wait_until(lambda: _observed(house, "harold"), "the first of his chunks", 60)
    assert queues.look(settings).problem == ""
    assert {each.name for each in queues.look(settings).queues if each.tasks is not None} == set(QUEUES)
    assert [found.level for found in doctor._broker(settings)] == [OK]
    broker.kill()
    house.say(40, "albert", text="The parcel leaves Lisbon.", tokens=1_000)
    assert "OM_BROKER_URL" in queues.look(settings).problem
    broker.start()
    wait_until(lambda: _observed(house, "albert"), "what was said while the broker was away", 90)
    assert house.om.verify() == []
    assert "reducing the prefetch count" not in house.log.read_text()  # a thread would undo it on the loop's socket
