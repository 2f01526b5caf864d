"""A memory leaves for a file and comes back: every context byte for byte, nothing broken, and life goes on."""

import secrets

import pytest
import redis
from driven import Driven
from hypothesis import given, settings
from hypothesis import strategies as st
from world import World

from om_api.domain.errors import InvalidInputError

THREADS = ("t-1", "t-2", "t-3")
SAID = st.tuples(st.just("say"), st.sampled_from(THREADS), st.text(min_size=1, max_size=20), st.integers(0, 400))
DONE = st.sampled_from(["work", "activate", "observe", "reflect", "forget", "restore", "pause"]).map(lambda act: (act,))
TURNS = st.lists(SAID | DONE, min_size=5, max_size=20)


class AsyncWorld(World):
    face = Driven


@pytest.fixture(autouse=True)
def closed():
    yield
    Driven.close_all()


def live(world, turns):
    """Have a memory become old."""
    for act, *said in turns:
        if act == "say":
            thread, text, tokens = said
            world.say(text, thread=thread, tokens=tokens)
        else:
            ACTS[act](world)


def _observe(world):
    if not world.om.stats("harold").paused:
        world.om.force_observe(None, "harold")
        world.settle()


def _reflect(world):
    world.om.force_reflect("harold")
    world.settle()


def _forget(world):
    for observation in world.om.observations("harold")[:1]:
        world.om.forget(observation.id, "harold")


def _restore(world):
    if world.settings.for_agent("harold").scope == "resource" and world.om.generations("harold"):
        world.om.restore("harold", 0)


ACTS = {"work": World.tick, "observe": _observe, "reflect": _reflect, "forget": _forget, "restore": _restore}
ACTS |= {"activate": lambda world: world.context("t-1"), "pause": lambda world: world.om.pause("harold")}


def contexts(world, resource="harold"):
    """Every thread's whole context but for the ages in its last block; reading may activate, so twice."""
    for thread in THREADS:
        world.context(thread, resource)
    found = [world.context(thread, resource).blocks for thread in THREADS]
    return [[(block.text, block.stable, block.tokens) for block in blocks] for blocks in found]


@pytest.mark.parametrize("scope", ["resource", "thread"])
@given(turns=TURNS)
@settings(max_examples=4)
def test_any_memory_comes_back_and_lives_on(server_url, scope, turns):
    with redis.Redis.from_url(server_url) as client:
        world = AsyncWorld(client, f"test-{secrets.token_hex(4)}:om", scope=scope)
        live(world, turns)
        before, covered, file = contexts(world), world.covering(), list(world.om.export_memory("harold"))
        world.om.clear("harold")

        assert world.om.import_memory(file).resource == "harold"
        assert (contexts(world), world.covering()) == (before, covered)
        assert world.om.verify() == []
        world.om.resume("harold")
        said = world.say(*[f"afterwards {n}" for n in range(15)])
        world.settle()
        _observe(world)
        _reflect(world)
        assert world.covering() == sorted([*covered, *said])
        assert world.om.verify() == []
        client.unlink(*client.scan_iter(f"{world.prefix}*"))


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def test_a_copy_of_any_pieces_lives_apart_from_its_original(world):
    world.say(*[f"message {n} é" for n in range(12)])
    world.settle()
    file, raw = b"".join(world.om.export_memory("harold")), len(world.context().messages)
    for n, name in ((1, "a"), (7, "b"), (len(file), "c")):
        pieces = (file[at : at + n] for at in range(0, len(file), n))
        assert world.om.import_memory(pieces, name).messages == raw > 0
    copied = contexts(world, "a")
    world.om.clear("harold")

    assert copied == contexts(world, "a") == contexts(world, "b") == contexts(world, "c")
    assert world.om.verify() == []


def test_an_import_that_is_refused_or_fails_leaves_nothing_behind(world, client, prefix):
    world.say("hello")
    file = b"".join(world.om.export_memory("harold"))
    reader = World(client, prefix, read_only="true")

    with pytest.raises(InvalidInputError, match="albert is read_only"):
        reader.om.import_memory([file], "albert")
    with pytest.raises(InvalidInputError, match="not its last one"):
        world.om.import_memory([file[: file.rindex(b'{"kind":"end"')]], "albert")
    assert not list(client.scan_iter(f"{prefix}:{{albert}}*"))
