import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import started
from world import wait_until

from om_api.domain.events import Event
from om_api.store.fleet import event_stream


@pytest.fixture
def publish(world):
    def tell(*kinds, resource="harold", **fields):
        told = [Event(kind=kind, resource=resource, **fields) for kind in kinds]
        world.services.run(event_stream.publish(world.services.keys, told, None, 0))

    return tell


def test_events_show_what_a_conversation_led_to(om, world):
    world.say(*[f"message {n}" for n in range(20)])
    world.settle()
    shown = om("events", "--count", "200").stdout

    assert [word in shown for word in ("harold  sealed", "buffered", "activated", "message_tokens=")] == [True] * 4


def test_events_are_picked_by_resource_and_kind_and_end_with_the_newest(om, publish):
    publish("sealed", "buffered", "sealed")
    publish("sealed", resource="albert")

    assert [line.split()[2:4] for line in om("events", "harold", "--kind", "sealed").stdout.splitlines()] == [
        ["harold", "sealed"]
    ] * 2
    assert "albert" in om("events", "--count", "1").stdout


def test_events_as_json_are_one_a_line(om, publish):
    publish("buffered", "failed", cost=0.5)
    lines = [json.loads(line) for line in om("events", "--json", "--after", "0").stdout.splitlines()]

    assert [(line["kind"], line["cost"]) for line in lines] == [("buffered", 0.5), ("failed", 0.5)]


def test_what_no_terminal_should_obey_is_made_visible(om, publish):
    publish("buffered", model="\x1b[2Jgemini")

    assert "\x1b" not in om("events").stdout


def test_without_events_it_says_so_and_nobody_knows_a_resource_that_never_was(om, publish):
    assert "no such event" in om("events").stderr
    assert om("events", "nobody").exit_code == 1


@pytest.mark.parametrize("words", [("--kind", "seald"), ("--after", "x"), ("--count", "0")])
def test_what_cannot_be_asked_for_is_refused(om, words):
    assert om("events", *words).exit_code == 2


def test_following_goes_on_until_it_is_interrupted(om, publish, server_url):
    publish("sealed")
    words = [Path(sys.executable).with_name("om"), "--url", server_url, "events", "--follow", "--json"]
    with started(words, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        first = json.loads(process.stdout.readline())
        publish("activated")
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        wait_until(lambda: process.poll() is not None, "the end of om events")

    assert [first["kind"], second["kind"]] == ["sealed", "activated"]
    assert process.returncode == 130


def test_what_an_owner_does_on_the_command_line_is_among_the_events(om, reflected):
    for asked in (("pause", "harold"), ("resume", "harold"), ("restore", "harold", "0")):
        assert om(*asked).exit_code == 0, om(*asked).output
    kinds = [line.split()[3] for line in om("events", "harold", "--count", "100").stdout.splitlines()]

    assert kinds[-3:] == ["paused", "resumed", "restored"]
