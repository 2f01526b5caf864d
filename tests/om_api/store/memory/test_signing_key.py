"""The key that contexts are signed with: it comes with the first message, stays as long as the memory, and goes with it."""

import pytest
from scene import adopt, push, write_plainly
from world import World

from om_api import ObservationalMemory


def key(store, resource="harold"):
    return store.client.hget(store.keys.of(resource).tokens, "*key")


def blocks(context):
    return [block.text for block in context.blocks if block.kind != "message"]


def signed(context):
    return [text.split("\n")[0] for text in blocks(context) if ' id="' in text.split("\n")[0]]


def test_the_first_message_brings_a_key_and_no_later_one_another(store):
    push(store, 1)
    first = key(store)
    push(store, 2)
    push(store, 2)

    assert len(bytes.fromhex(first.decode())) == 16
    assert key(store) == first


def test_a_plain_message_brings_one_when_it_is_adopted(store):
    write_plainly(store, b'{"role":"user","content":"plain"}')
    before = key(store)
    store.run(adopt(store))
    first = key(store)
    push(store, 1)

    assert before is None
    assert len(first) == 32
    assert key(store) == first


def test_what_could_not_be_accepted_brings_none(store):
    write_plainly(store, b'{"role":"robot"}')
    store.run(adopt(store))

    assert key(store) is None


def test_a_memory_that_is_cleared_takes_its_key_with_it_and_one_thread_does_not(client, prefix):
    world = World(client, prefix)
    world.say("a")
    world.say("b", thread="t-2")
    name = f"{prefix}:{{harold}}:tokens"
    first = client.hget(name, "*key")
    world.om.clear("harold", "t-2")
    kept = client.hget(name, "*key")
    world.om.clear("harold")
    world.say("c")

    assert first == kept
    assert client.hget(name, "*key") not in {None, first}


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_the_same_memory_reads_the_same_for_every_reader_and_after_an_import(client, prefix, scope):
    world = World(client, prefix, scope=scope)
    world.say("I keep bees")
    world.om.force_observe(resource_id="harold", thread_id="t-1")
    world.settle()
    world.om.force_reflect(resource_id="harold", thread_id="t-1" if scope == "thread" else None)
    world.settle()
    world.say("I keep goats")
    world.om.force_observe(resource_id="harold", thread_id="t-1")
    world.settle()
    first = world.context()
    file = b"".join(world.om.export_memory("harold"))
    again = ObservationalMemory(world.om.settings, client=client).get_context("t-1", "harold")
    world.om.import_memory([file], resource_id="albert")

    assert len(signed(first)) == 4
    assert blocks(again) == blocks(first) == blocks(world.om.get_context("t-1", "albert"))
