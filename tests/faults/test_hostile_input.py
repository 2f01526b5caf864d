"""What one writer breaks is refused or quarantined, and hurts no other: not a read, not a push, not a sweep."""

import json

import pytest
import redis
from click.testing import CliRunner
from world import World

from om_api import InvalidInputError, Message, ObservationalMemory
from om_api.cli import main
from om_api.domain.kept.extractors import Extractor, check_schema, value_of
from om_api.domain.nesting import MAX_DEPTH
from om_api.store.driver.connection import Connection
from om_api.store.items.item_records import body_of

AT = 1_790_000_000_000


def _nested(levels):
    value = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


def _message(content="x", resource="harold", **more):
    return Message(role="user", content=content, id="deep", thread_id="t-1", resource_id=resource, **more)


def test_a_message_that_nests_deeper_than_every_reader_can_follow_is_refused(client, prefix):
    """Breaks when a push takes what a worker, whose stack is deeper, cannot read: never observed, never rejected."""
    world = World(client, prefix)
    with pytest.raises(InvalidInputError, match=f"deeper than {MAX_DEPTH} levels"):
        world.om.add_message(_message(metadata=_nested(MAX_DEPTH)))
    assert list(client.scan_iter(f"{prefix}:{{harold}}*")) == []
    brackets = _message('[{"' * 500, metadata=_nested(MAX_DEPTH - 1))  # of a text they are no levels
    assert world.om.add_message(brackets).added == 1
    assert [message.id for message in world.context().messages] == ["deep"]


def test_json_of_callers_that_nests_deeper_than_the_limit_is_refused_at_every_door(client, prefix):
    world = World(client, prefix, working_memory__template="- City:")
    world.say("x")
    listed = Extractor(slug="places", instruction="", schema={"type": "object"})
    doors = {
        "metadata of a thread": lambda deep: world.om.set_thread("harold", "t-1", metadata=deep),
        "working memory": lambda deep: world.om.update_working_memory({"City": [deep]}, "harold"),
        "an item": body_of,
        "a value that a model extracted": lambda deep: value_of(listed, json.dumps(deep)),
        "a schema": lambda deep: check_schema({"default": deep}),
    }
    for door, hand_in in doors.items():
        with pytest.raises(InvalidInputError, match=f"deeper than {MAX_DEPTH} levels"):
            hand_in(_nested(MAX_DEPTH + 1))
            pytest.fail(door)


_BAD = {
    "a thousand lists": b'{"id":"d","role":"user","content":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a timestamp of 400 digits": b'{"id":"d","role":"user","content":"x","timestamp":1' + b"0" * 400 + b"}",
}


@pytest.mark.parametrize("member", _BAD.values(), ids=_BAD)
def test_a_member_that_python_cannot_decode_is_quarantined_and_stops_no_read_and_no_sweep(client, prefix, member):
    world = World(client, prefix)
    client.zadd(f"{prefix}:{{bad}}:messages:t-1", {member: AT})
    world.say("good", resource="bad")
    assert "good" in [message.content for message in world.context(resource="bad").messages]
    client.zadd(f"{prefix}:{{good}}:messages:t-1", {b'{"id":"g","role":"user","content":"x"}': AT})
    world.sweep()
    assert client.llen(f"{prefix}:{{bad}}:rejected") == 1 or client.hget(f"{prefix}:{{bad}}:tokens", "#t-1") == b"2"
    assert client.hget(f"{prefix}:{{good}}:tokens", "#t-1") == b"1"


def _listed(client, prefix):
    client.zadd(f"{prefix}:resources", {"bad": 1})
    return client


_SPOILS = {
    "a name that is not UTF-8": lambda c, p: c.zadd(f"{p}:{{bad}}:messages:caf".encode() + b"\xe9", {b"{}": 1}),
    "a key of the wrong type": lambda c, p: _listed(c, p).set(f"{p}:{{bad}}:record", "oops"),
    "a broken counter": lambda c, p: _listed(c, p).hset(f"{p}:{{bad}}:tokens", "#t-1", "abc"),
    "an observation that nests deep": lambda c, p: (
        _listed(c, p).hset(f"{p}:{{bad}}:record", "epoch", "e"),
        c.zadd(f"{p}:{{bad}}:observations", {b'{"id":"d","extracted":{"x":%s}}' % (b"[" * 3_000 + b"]" * 3_000): 9}),
    ),
    "a hint that is not UTF-8": lambda c, p: c.zadd(f"{p}:adopt", {b"\xff": -1}),
    "a hint at a key of the wrong type": lambda c, p: (
        c.set(f"{p}:{{bad}}:messages:t-1", "oops"), c.zadd(f"{p}:adopt", {f"{p}:{{bad}}:messages:t-1": -1})
    ),
}  # fmt: skip


def test_a_sweep_goes_on_behind_what_it_cannot_read(client, prefix):
    """Breaks when the sweep ends there, every minute again: nothing behind it is adopted, marked or cleared."""
    world = World(client, prefix)
    world.say(*"abcdefghijk", resource="good")
    world.settle()
    world.say(*"lmnopqrstuv", resource="good")
    for what, spoil in _SPOILS.items():
        client.delete(world.services.keys.due_observe)  # a gap that the sweep makes good
        client.zadd(world.services.keys.resources, {"good": 2})
        spoil(client, prefix)
        try:
            world.sweep()
            assert client.zscore(world.services.keys.due_observe, "good") is not None, what
        finally:
            client.delete(*client.scan_iter(f"{prefix}:{{bad}}*", 1000), f"{prefix}:adopt")


class Away(Connection):
    def __init__(self, client):
        super().__init__(client)
        self._endpoint.ask = self._unanswered

    def _unanswered(self, _):
        raise redis.ConnectionError("away")


def test_fail_open_recovers_from_a_message_that_cannot_be_kept(client, prefix):
    world = World(client, prefix)
    om = ObservationalMemory(world.settings, fail_open=True, client=client)
    alive, om._connection = om._connection, Away(client)
    om.add_message(_message("good", "a"))
    with pytest.raises(InvalidInputError):
        om.add_message(Message(role="user", content="x", thread_id="t-1", resource_id="x" * 201))
    om._connection = alive
    assert [message.content for message in om.get_context("t-1", "a").messages] == ["good"]


def test_the_command_line_answers_bad_input_without_a_traceback(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    for words in (["--url", "redis://127.0.0.1:1/0?foo=bar", "stats"], ["replay", "deep.jsonl"]):
        done = CliRunner().invoke(main, words)
        assert done.exit_code in {2, 3}, (words, done.output)
        assert isinstance(done.exception, SystemExit), words
