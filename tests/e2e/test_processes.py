"""Real beat, real worker, real server, and writers of every kind."""

import json
import socket
import time
from urllib.parse import urlsplit

import pytest
from world import wait_until

from om_api import Message

_AGENTS = {
    "agents/harold/memory.yaml": (
        "observational_memory: {message_threshold: 1000, observation_threshold: 1200, min_recent_messages: 1, "
        "context_max_tokens: null}"
    ),
    "agents/albert/memory.yaml": (
        "observational_memory: {message_threshold: 2000, observer_model: echo-slow, scope: thread, context_max_tokens: null}"
    ),
}


def _say(om, n, *, thread="t-1", resource="harold", tokens=100):
    message = Message(role="user", content=f"message {n}", thread_id=thread, resource_id=resource, tokens=tokens)
    return om.add_message(message).ids[0]


def _zadd(url, key, member, score):
    """What a writer in any language does, on a bare socket."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port)) as server:
        for words in (
            (b"ZADD", key.encode(), str(score).encode(), member),
            (b"ZADD", key.split(":{")[0].encode() + b":adopt", b"0", key.encode()),
        ):
            server.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            assert server.recv(100).startswith(b":")


def test_messages_become_observations_become_a_generation_and_each_is_there_once_at_every_look(run, server_url):
    house = run(_AGENTS)
    said = {"harold": [], "albert": []}
    for n in range(60):
        said["harold"].append(_say(house.om, n))
        said["albert"].append(_say(house.om, n, resource="albert", thread="a-1"))
        plain = f"plain-{n}"
        member = json.dumps({"id": plain, "role": "assistant", "content": "from a socket", "tokens": 30}).encode()
        _zadd(server_url, f"{house.prefix}:{{harold}}:messages:t-1", member, int(time.time() * 1000))
        for resource, thread in (("harold", "t-1"), ("albert", "a-1")):
            context = house.om.get_context(thread, resource)
            raw, text = [message.id for message in context.messages], context.text
            assert all((name in raw) + (f"[{name}]" in text) == 1 for name in said[resource])
        said["harold"].append(plain)
        time.sleep(0.03)

    wait_until(lambda: house.om.generations("harold"), "a generation of harold", 60)
    wait_until(lambda: house.om.observations("albert"), "an observation of albert", 60)
    wait_until(lambda: _once(house, "harold", "t-1", said["harold"]), "every message of harold exactly once", 60)

    assert {observation.model for observation in house.om.observations("albert")} == {"echo-slow"}
    assert house.om.stats("albert").scope == "thread"


def _once(house, resource, thread, said):
    context = house.om.get_context(thread, resource)
    raw, text = [message.id for message in context.messages], context.text
    return all((name in raw) + (f"[{name}]" in text) == 1 for name in said)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_at_the_default_thresholds_chunks_are_about_b_and_the_tail_is_about_the_floor(run, scope):
    """40,000 tokens in turns of 200, T = 30,000: chunks of 5,400-6,600, activation at T without a model, 5,000-7,000 left."""
    house = run(message_threshold="30000", scope=scope, prompt_cache__timing="threshold", buffer_activation="0.8")
    sizes, stable, tails = set(), {}, []
    for n in range(200):
        before = _asked(house)
        _say(house.om, n, tokens=200)
        context = house.om.get_context("t-1", "harold")
        sizes |= _chunk_sizes(house)
        memory = tuple(block.hash for block in context.blocks if block.stable)
        activations = len({observation.activation for observation in context.observations})
        assert stable.setdefault(activations, memory) == memory
        if activations and not tails:
            tails.append(sum(message.tokens for message in context.messages))
            assert _asked(house) == before
            assert n == 149
        time.sleep(0.02)

    assert len(sizes) >= 5
    assert [size for _, size in sizes if not 5_400 <= size <= 6_600] == []
    assert 5_000 <= tails[0] <= 7_000


def _asked(house):
    return house.log.read_bytes().count(b"chunk_observed")


def _chunk_sizes(house):
    found = set()
    for key in house.client.scan_iter(f"{house.prefix}:{{harold}}:chunk:*", count=1000):
        if size := house.client.hget(key, "tokens"):
            found.add((key, int(size)))
    return found


def test_an_edited_override_changes_the_next_chunk_within_a_tick_and_a_broken_one_is_reported(run):
    house = run(
        {"agents/harold/memory.yaml": "observational_memory: {message_threshold: 1000, min_recent_messages: 0}"}
    )
    for n in range(2):
        _say(house.om, n)
    wait_until(lambda: _chunk_sizes(house), "the first chunk")
    override = house.config / "agents" / "harold" / "memory.yaml"

    override.write_text(
        "observational_memory: {message_threshold: 5000, observer_model: echo-slow, min_recent_messages: 0}"
    )
    time.sleep(1.5)
    for n in range(9):
        _say(house.om, n)
    time.sleep(1)
    assert {size for _, size in _chunk_sizes(house)} == {200}
    _say(house.om, 9)
    wait_until(lambda: 1000 in {size for _, size in _chunk_sizes(house)}, "a chunk of the new size")

    override.write_text("observational_memory: {message_threshold: many}")
    wait_until(lambda: b"settings_problem" in house.log.read_bytes(), "the report of the broken override")


def test_a_writer_of_the_older_key_form_is_served_and_who_names_nobody_is_told(run):
    house = run(message_threshold="1000")
    key = f"{house.prefix}:messages:old-thread"
    house.client.zadd(
        key,
        {b'{"id":"o-1","role":"user","content":"hi","resourceId":"harold","timestamp":1763600000000}': 1763600000000},
    )
    house.client.zadd(key, {b'{"id":"o-2","role":"user","content":"hi"}': 1763600000000})
    house.client.zadd(f"{house.prefix}:adopt", {key: 0})

    wait_until(
        lambda: (
            [m.id for m in house.om.get_context("old-thread", "harold").messages] == ["o-1"]
            or "[o-1]" in house.om.get_context("old-thread", "harold").text
        ),
        "the old writer's message",
    )
    wait_until(lambda: house.client.llen(f"{house.prefix}:{{unknown}}:rejected") == 1, "the other one's rejection")
    wait_until(lambda: house.client.zcard(key) == 0, "the older key to be empty")  # what it held is safe before
