"""What the operations guide says of Celery's commands and of sizes is so."""

import re
import shlex
from pathlib import Path

import pytest
import redis
from celery.bin.celery import celery
from celery.worker.control import Panel
from servers import BINARIES, Server
from world import World, wait_until

from om_api import Message

_PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
_CELERY = "celery -A om_workers.app "
_MESSAGES = 600


def _commands():
    shown = {line.strip() for line in _PAGE.splitlines()} | set(re.findall(r"`([^`\n]+)`", _PAGE))
    return sorted(shlex.split(one.removeprefix(_CELERY)) for one in shown if one.startswith(_CELERY))


def test_every_celery_command_exists_and_so_does_what_it_asks_of_a_worker():
    asked = [words for words in _commands() if words[0] in {"inspect", "control"}]

    assert {words[0] for words in _commands()} <= set(celery.commands)
    assert len(asked) >= 5
    assert {words[1] for words in asked} <= {name for name, _ in Panel.meta.items()}


@pytest.fixture
def bare(private_server_url, prefix):
    with redis.Redis.from_url(private_server_url) as client:
        yield World(client, prefix, tokenizer="estimate", message_threshold="3000")


def _told(what):
    row = next(line for line in _PAGE.splitlines() if line.startswith(f"| {what} |"))
    return int(row.split("|")[2].strip().removesuffix(" B").replace(",", ""))


def _bytes(world, kind):
    found = world.client.scan_iter(f"{world.prefix}:{kind}", count=1000)
    return sum(world.client.memory_usage(key, samples=0) for key in found)


def _say(world, many, resource="harold"):
    world.om.add_messages(
        [
            Message(
                role="user", content="x" * 300, id=f"message-{n:020}", thread_id="t-1", resource_id=resource, tokens=100
            )
            for n in range(many)
        ]
    )


def test_messages_ids_and_agents_take_as_much_memory_as_is_said(bare):
    _say(bare, _MESSAGES)
    _say(bare, 1, resource="albert")
    bare.client.zadd(f"{bare.prefix}:due:else", {f"agent-{n}": n for n in range(_MESSAGES)})
    raw, ids, due = (_bytes(bare, kind) / _MESSAGES for kind in ("{harold}:messages:*", "{harold}:known:*", "due:else"))

    assert raw == pytest.approx(_told("a raw message of 300 characters"), rel=0.25)
    assert ids == pytest.approx(_told("its id, as long as anything of it is kept"), rel=0.5)
    assert _bytes(bare, "{albert}:*") == pytest.approx(_told("an agent with one message"), rel=0.5)
    assert due == pytest.approx(_told("a scope in a due index"), rel=0.5)


def test_a_message_behind_an_observation_takes_as_much_memory_as_is_said(bare):
    _say(bare, _MESSAGES)
    bare.settle()
    sources, observed = _bytes(bare, "{harold}:source:*"), bare.om.stats("harold").observed_messages

    assert observed >= _MESSAGES // 2
    assert sources / observed == pytest.approx(
        _told("the same message behind an observation, until `ttl_days` are over"), rel=0.25
    )


@pytest.fixture(params=sorted(BINARIES))
def start(request, tmp_path):
    """A server on the test's folder while a block runs, with `appendonly` yes or no."""
    return lambda appendonly: Server(tmp_path, "--appendonly", appendonly, binary=BINARIES[request.param])


def test_a_snapshot_beside_which_append_only_files_begin_is_not_read(start):
    with start("no") as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with start("yes") as server, server.client() as client:
        assert client.dbsize() == 0


def test_a_snapshot_is_restored_as_is_said(start):
    with start("no") as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with start("no") as server, server.client() as client:
        client.config_set("appendonly", "yes")
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "the rewrite")
    with start("yes") as server, server.client() as client:
        assert client.get("kept") == b"1"
