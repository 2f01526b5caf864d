"""`om top`: who is worth a look, by pressure, cost, lag or activity."""

import contextlib
import os
import pty
import signal
import sys
import threading
import time

import pytest
from processes import started

from om_api.cli.group import INTERRUPTED


@pytest.fixture
def three(world):
    """Three agents: albert's window is the fullest, berta costs most, and clara spoke last and is due."""
    world.say(*["x"] * 5, resource="albert", tokens=100)
    world.say("x", resource="berta", tokens=50)
    world.say("x", resource="clara", tokens=60)
    world.settle()
    now = int(time.time() * 1000)
    base = f"{world.prefix}:resources"
    world.client.zadd(base, {"albert": now, "berta": now - 1, "clara": now - 2})
    day = time.strftime("%Y-%m-%d", time.gmtime())
    world.client.hset(
        f"{world.prefix}:spent:{day}:berta", mapping={"all|micros": 2_000_000, "scripted|observe|micros": 2_000_000}
    )
    world.client.expire(f"{world.prefix}:spent:{day}:berta", 1000)
    world.client.zadd(f"{world.prefix}:due:observe", {"clara": now - 7_000})
    world.client.zadd(f"{world.prefix}:{{clara}}:threads", {"t-1": now + 3_600_000})
    return world


@pytest.mark.parametrize(
    ("order", "first"), [("pressure", "albert"), ("cost", "berta"), ("lag", "clara"), ("activity", "clara")]
)
def test_the_agent_with_most_of_it_comes_first(om_json, three, order, first):
    found = om_json("top", "--sort", order)

    assert [found["items"][0]["resource"], found["known"], found["read"], found["complete"]] == [first, 3, 3, True]


def test_what_is_shown_of_an_agent_is_what_its_stats_say_and_how_long_it_waits(om, om_json, three):
    agent = om_json("top", "--sort", "lag", "--limit", "1")["items"][0]
    stats = om_json("stats", "clara")

    assert 7 <= agent["lag"] <= stats.pop("lag") < 600  # it grows from one look to the next
    assert {name: agent[name] for name in agent.keys() & stats.keys()} == {
        name: stats[name] for name in agent.keys() & stats.keys()
    }
    assert agent["at"] <= time.time() * 1000 + 5_000  # a message dated ahead was not heard of in the future
    assert "1 of 3 agents" in om("top", "--limit", "1", "--once").stdout


def test_agents_are_filtered_by_state_and_name_and_least_of_it_comes_first(om, om_json, three):
    three.om.pause("albert")

    assert [agent["resource"] for agent in om_json("top", "--state", "paused")["items"]] == ["albert"]
    assert [agent["resource"] for agent in om_json("top", "--search", "ar")["items"]] == ["clara"]
    assert om_json("top", "--ascending")["items"][-1]["resource"] == "albert"
    assert "1 of 1 that fit, of 3 agents" in om("top", "--search", "ar", "--once").stdout


def test_an_urgent_agent_waits_since_it_came_due_and_not_an_hour_longer(om_json, three, client, prefix):
    """An urgent scope is written an hour ahead."""
    client.zadd(f"{prefix}:due:observe", {"clara": int(time.time() * 1000) - 3_600_000 - 9_000})

    assert 8 <= om_json("top", "--sort", "lag")["items"][0]["lag"] < 600


@pytest.mark.timeout(90)
def test_a_terminal_is_shown_a_table_that_changes_until_ctrl_c(three, server_url, prefix, wait_until):
    ours, theirs = pty.openpty()
    environ = {**os.environ, "OM_PREFIX": prefix, "TERM": "xterm", "COLUMNS": "200", "LINES": "30"}
    command = [
        sys.executable,
        "-c",
        "from om_api.cli import main; main()",
        "--url",
        server_url,
        "top",
        "--interval",
        "0.5",
    ]
    shown = bytearray()
    threading.Thread(target=_read, args=(ours, shown), daemon=True).start()
    with started(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as process:
        wait_until(lambda: b"3 of 3 agents" in shown, "the table", 60)
        three.say("hello", resource="dora")
        three.client.zadd(f"{prefix}:resources", {"dora": 1})
        wait_until(lambda: b"4 of 4 agents" in shown, "the next look", 60)
        process.send_signal(signal.SIGINT)
        process.wait(20)

    assert process.returncode == INTERRUPTED
    assert b"Traceback" not in shown


def _read(terminal, shown):
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65_536):
            shown += part


def test_an_empty_store_has_nobody_to_show(om):
    result = om("top", "--once")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "no worker has met" in result.stderr


def _counter(client, base):
    client.hset(f"{base}:tokens", "*", "lots")


def _type(client, base):
    client.delete(f"{base}:tokens")
    client.set(f"{base}:tokens", "x", ex=60)


def _record(client, base):
    client.hset(f"{base}:record", "chunk_tokens", "x")


def _thresholds(client, base):
    client.hset(f"{base}:record", "limits", '{"limits":{"message_threshold":0,"observation_threshold":0}}')


def _times(client, base):
    client.zadd(f"{base}:threads", {"t-1": float("inf")})


@pytest.mark.parametrize("spoil", [_counter, _type, _record, _thresholds, _times])
@pytest.mark.parametrize("order", ["pressure", "lag"])
def test_an_agent_whose_keys_hold_what_is_not_ours_hides_no_other_one(om_json, three, spoil, order):
    spoil(three.client, f"{three.prefix}:{{berta}}")

    assert {"albert", "clara"} <= {agent["resource"] for agent in om_json("top", "--sort", order)["items"]}


def test_what_no_scope_can_be_called_in_a_due_index_hides_nobody(om_json, three):
    three.client.zadd(f"{three.prefix}:due:observe", {b"\xff x": 1, "berta": float("-inf")})

    assert om_json("top", "--sort", "lag")["items"][0]["resource"] == "clara"
