"""P9: bad input hurts only itself: a clear error or quarantine with a reason; everything else goes on."""

import json

import pytest

from om_api import InvalidInputError, Message
from om_api.domain.errors import ModelError, OMError
from om_api.store.memory import chunks

HUGE = 10**5_000  # Python writes no number of more than 4,300 digits, and hiredis ends the process that tries
CALL = {"type": "tool-call", "tool_call_id": "c", "name": "n"}


def test_a_number_that_nobody_can_write_is_refused_and_nothing_is_written(world):
    message = {"role": "user", "content": "x", "thread_id": "t-1", "resource_id": "harold"}
    for fields in ({"id": HUGE}, {"content": HUGE}, {"content": [{**CALL, "args": {"n": HUGE}}]},
        {"parts": [{"functionCall": {"name": "n", "args": {"n": HUGE}}}], "content": None}, {"timestamp": HUGE},
        {"thread_id": HUGE}, {"metadata": {"n": [HUGE]}}, {"of_a_vendor": HUGE}, {"metadata": {"n": float("nan")}},
        {"content": [{**CALL, "args": {"n": [-float("inf")]}}]}):  # fmt: skip
        with pytest.raises(InvalidInputError):
            world.om.add_messages([{**message, **fields}])
        with pytest.raises(InvalidInputError):
            world.om.sync([{**message, **fields}], "harold", "t-1")
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []
    with pytest.raises(InvalidInputError, match="NaN or Infinity; write it as a text"):
        world.om.add_messages([{**message, "metadata": {"n": float("inf")}}])
    for ask in (lambda: world.om.restore("harold", HUGE), lambda: world.om.events(count=HUGE)):
        with pytest.raises(InvalidInputError, match="a number of thousands of digits"):
            ask()


def test_an_unobservable_message_is_found_by_halving_and_a_placeholder_tells_the_actor(world):
    """A provider's outage, which comes first, burns no attempt and quarantines nothing."""
    said = world.say(*[f"message {n}" for n in range(7)], "poison", tokens=100)
    echo, away = world.model.complete, [ModelError("503", retryable=True)] * 5

    def choke(request):
        if away:
            raise away.pop()
        if any("poison" in message.text() for message in request.messages):
            raise ModelError("blocked by the provider", retryable=False)
        return echo(request)

    world.model.complete = choke
    world.until_given_up()
    text = world.context().text
    assert (away, world.covering()) == ([], sorted(said))
    assert text.count("could not be observed: blocked by the provider") == 1
    assert all(f"[{name}]" in text for name in said[:-1])
    assert world.om.stats("harold").rejected == 1


def test_a_message_that_freezes_its_worker_is_found_by_its_crashes_and_others_go_on(world):
    """Breaks when a chunk that froze two workers is begun once more: the next worker freezes too."""
    said = world.say(*[f"message {n}" for n in range(3)], "poison", tokens=100)
    echo, crashes = world.model.complete, []

    def freeze(request):
        if any("poison" in message.text() for message in request.messages):
            (chunk,) = world.client.scan_iter(f"{world.prefix}:{{harold}}:lock:chunk:*", count=1000)
            crashes.append(len(request.messages))
            name = chunk.decode().rpartition(":")[2]
            world.services.run(chunks.crashed(world.services.keys, "harold", name, f"{len(crashes)}"))
            raise OMError  # not a ModelError: nothing is given back, as where a process ends
        return echo(request)

    world.model.complete = freeze
    world.until_given_up()
    assert (world.covering(), crashes) == (sorted(said), [2, 2, 1])  # messages: twice, and one crash more for each half
    (entry,) = world.om.rejected("harold")
    assert entry.reason.startswith("crashed: 2 attempts to observe it froze a worker")
    assert all(f"[{name}]" in world.context().text for name in said[:-1])


def test_what_a_vendor_adds_tomorrow_is_kept_and_the_words_beside_it_are_read_and_observed(world):
    part = {"type": "text", "text": "My flight is on Friday."}
    message = {"id": "m-1", "role": "user", "content": [part, {"type": "hologram", "data": "x" * 99}], "mood": "calm"}
    item = {"id": "m-2", "type": "teleport_call", "to": "the moon"}
    key = f"{world.prefix}:{{harold}}:messages:t-1"
    world.client.zadd(key, {json.dumps(each): 1763600000000 + n for n, each in enumerate([message, item])})
    world.sweep()
    assert world.context("t-1").text == "user: My flight is on Friday.\n\t[hologram]\n\nassistant: [teleport_call]"
    assert world.om.stats("harold").rejected == 0
    world.observe_now()
    (observation,) = world.om.observations("harold")
    assert list(observation.message_ids) == ["m-1", "m-2"]
    assert [m.content[-1]["type"] for m in world.om.sources(observation.id, "harold")] == ["hologram", "teleport_call"]


def test_a_message_that_cannot_be_accepted_says_what_is_permitted_and_nothing_is_written(world):
    good = {"role": "user", "content": "x", "thread_id": "t-1", "resource_id": "harold"}
    refused = [({"role": "robot"}, "user, assistant, system, tool"), ({"thread_id": "x" * 201}, "thread_id"),
        ({"resource_id": ""}, "resource_id"), ({"content": [{"type": "text"}]}, "a text part needs a text"),
        ({"content": 5}, "content"),
        ({"timestamp": "yesterday"}, "ISO 8601"), ({"tokens": -1}, "tokens"), ({"tokens": True}, "tokens"),
        ({"id": ".."}, "id")]  # fmt: skip
    for fields, says in refused:
        with pytest.raises(InvalidInputError, match=says):
            world.om.add_messages([Message(**good), Message(**{**good, **fields})])
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []
