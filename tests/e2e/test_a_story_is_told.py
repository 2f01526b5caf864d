"""What happens to a conversation in real workers is told from sealed to reflected, and counted once."""

import threading

import pytest
from processes import BEAT, WORKER
from world import wait_until

from om_api import Message
from om_api.store.driver.connection import Connection
from om_api.store.fleet import event_stream
from om_api.store.memory.keys import Keys

AGENTS = {
    "agents/harold/memory.yaml": (
        "observational_memory: {message_threshold: 1000, observation_threshold: 1200, min_recent_messages: 1}"
    )
}


def follow(om, seen):
    """Collect what is told until the end of harold's memory, or that of the client."""

    def work():
        for event in om.follow("0"):
            if event.kind == "cleared":
                return
            seen.append(event)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def counters(house):
    (found,) = Connection(house.client).run(event_stream.counted(Keys(house.prefix), ["harold"]))
    return found


@pytest.mark.timeout(300)
def test_a_conversation_is_told_from_sealed_to_reflected_and_counted_once_by_two_workers(run):
    house, seen = run(AGENTS, commands=(BEAT, WORKER, WORKER)), []
    om, follower = house.om, follow(house.om, seen)
    for n in range(100):
        om.add_message(Message(role="user", content=f"message {n}", thread_id="t-1", resource_id="harold", tokens=100))
        if n % 8 == 0:
            om.get_context("t-1", "harold")
    wait_until(lambda: om.generations("harold"), "a generation", 120)  # a lease may lie before it
    assert om.force_observe(resource_id="harold", wait=60) == "activated"
    wait_until(lambda: rests(om.stats("harold")), "rest", 60)

    made = [*om.observations("harold"), *(one for era in om.history("harold") for one in era.replaced)]
    generations, counted = om.generations("harold"), counters(house)
    om.clear("harold")
    follower.join(30)
    assert told_in_order(seen)
    assert len(made) == counted["observations"] == sum(event.kind == "buffered" for event in seen)
    assert len(generations) == counted["reflections"] == sum(event.kind == "reflected" for event in seen)
    assert len(made) == sum(n for name, n in counted.items() if name.startswith("observer|le|"))


def rests(stats):
    return not (stats.chunks or stats.observing or stats.reflecting)


def told_in_order(seen):
    """Whether each chunk was sealed, asked about and stored in this order, and all of it before the first reflection."""
    order = {(event.kind, event.chunk): place for place, event in enumerate(seen) if event.chunk}
    stored = [chunk for kind, chunk in order if kind == "buffered"]
    kinds = [event.kind for event in seen]
    firsts = [kinds.index(kind) for kind in ("sealed", "buffered", "activated", "reflecting", "reflected")]
    each = all(order["sealed", chunk] < order["observing", chunk] < order["buffered", chunk] for chunk in stored)
    return each and firsts == sorted(firsts)
