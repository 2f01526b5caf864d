"""A stream of events: it tells, goes on, beats, and ends, and no reader keeps its place for nothing."""

import json
import signal
import socket
import threading
from contextlib import contextmanager
from typing import NamedTuple

import httpx2
import pytest
from served import app_of, settings_of
from world import wait_until

from om_api.http.routes import events as asked
from om_api.http.serving import shares, streams
from om_api.http.serving.server import Server, configured

EVENTS = "/v1/events"


class Open(NamedTuple):
    """A server that runs: its address, its streams, and what a signal would tell it."""

    url: str
    streams: streams.Streams
    server: Server


@pytest.fixture
def served(settings, client):
    """The app in a server of its own: the test client waits for the end of a response, and a stream has none."""
    named = settings_of(settings, api__cors_origins='["https://app.example.org"]')
    with app_of(named, timeout=5) as app, socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        server = Server(configured(app))
        thread = threading.Thread(target=server.run, args=([place],))
        thread.start()
        wait_until(lambda: server.started, "the server")
        yield Open(f"http://127.0.0.1:{place.getsockname()[1]}", app.state.streams, server)
        server.handle_exit(signal.SIGTERM, None)
        thread.join(20)
        assert not thread.is_alive()


@contextmanager
def stream(served, key=None, headers=None, **query):
    """The blocks of a stream, as they come, each as its fields."""
    sent = {"Accept": "text/event-stream", **({"Authorization": f"Bearer {key}"} if key else {}), **(headers or {})}
    with httpx2.stream("GET", f"{served.url}{EVENTS}", headers=sent, params=query, timeout=20) as answer:
        answer.read() if answer.status_code != 200 else None
        yield answer, blocks(answer) if answer.status_code == 200 else None


def blocks(answer):
    block = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(" ")
            block[name if name == ":" else name.removesuffix(":")] = value
        else:
            yield block
            block = {}


def test_a_stream_tells_what_happens_from_now_on_to_a_page_that_is_let_in(served, ring, publish):
    publish("cleared")
    _, token = ring.create(["harold"], "reader")
    with stream(served, token, {"Origin": "https://app.example.org"}) as (answer, found):
        first = next(found)
        publish("sealed", "buffered")
        sealed, buffered = next(found), next(found)

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["access-control-allow-origin"] == "https://app.example.org"
    assert first == {"retry": "2000"}
    assert [sealed["event"], buffered["event"]] == ["sealed", "buffered"]
    said = json.loads(buffered["data"])
    assert (said["kind"], said["id"], said["resource"]) == ("buffered", buffered["id"], "harold")


def test_a_stream_goes_on_behind_the_last_event_that_was_seen(served, ring, publish):
    publish("sealed", "buffered", "activated")
    _, token = ring.create(["harold"], "reader")
    with stream(served, token, after="0") as (_, found):
        next(found)
        seen = next(found)["id"]
    for said in ({"headers": {"Last-Event-ID": seen}, "after": "0"}, {"after": seen}):
        with stream(served, token, **said) as (_, found):
            next(found)
            assert [next(found)["event"], next(found)["event"]] == ["buffered", "activated"], said


def test_a_quiet_stream_beats_and_says_how_far_it_has_read(served, ring, publish, monkeypatch):
    """Catches a place that stays behind: who comes back after a day would be told of a gap that there was not."""
    monkeypatch.setattr(streams, "BEAT_S", 0.2)
    monkeypatch.setattr(asked, "LOOK_S", 0.1)
    _, token = ring.create(["harold"], "reader")
    with stream(served, token) as (_, found):
        next(found)
        publish("sealed", resource="albert")
        beats = [next(found) for _ in range(5)]

    assert {name for beat in beats for name in beat} == {":", "id"}
    assert any("id" in beat for beat in beats)


def test_a_stream_that_a_token_opened_outlives_it_and_ends_with_the_key(
    served, ring, publish, client, prefix, monkeypatch
):
    monkeypatch.setattr(streams, "BEAT_S", 0.2)
    key, secret = ring.create(["harold"], "reader")
    asked = httpx2.post(f"{served.url}{EVENTS}/token", headers={"Authorization": f"Bearer {secret}"}).json()
    with stream(served, token=asked["token"]) as (_, found):
        next(found)
        assert client.delete(*client.keys(f"{prefix}:lock:stream-token:*")) == 1
        assert [next(found).get(":") for _ in range(2)] == ["still here"] * 2
        publish("sealed")
        assert next(block["event"] for block in found if "event" in block) == "sealed"
        ring.revoke(key.id)
        assert [block for block in found if "event" in block] == []
    wait_until(lambda: served.streams.open == 0, "the stream's end")


def test_streams_are_bounded_and_given_back(served, ring, monkeypatch):
    served.streams._most = 1
    _, token = ring.create(["harold"], "reader")
    with stream(served, token) as (_, found):
        next(found)
        with stream(served, token) as (refused, _):
            assert refused.status_code == 503
            assert refused.headers["content-type"] == "application/problem+json"
            assert "1 streams are open" in refused.json()["detail"]
    wait_until(lambda: served.streams.open == 0, "the stream's end")
    with stream(served, token) as (answer, _):
        assert answer.status_code == 200


def test_streams_end_when_the_process_is_told_to_stop(served, ring):
    """Catches a shutdown that waits for readers who never go: `timeout_graceful_shutdown` would pass first."""
    with stream(served, ring.create(["harold"], "reader")[1]) as (_, found):
        next(found)
        served.server.handle_exit(signal.SIGTERM, None)
        assert list(found) == []


def test_a_reader_that_takes_nothing_keeps_no_stream_open(served, ring, publish, monkeypatch):
    """Catches a hundred of them, revoked or not, that leave nobody else a stream until their connections break."""
    monkeypatch.setattr(streams, "STALLED_S", 0.5, raising=False)
    long = "h" * 200  # enough to fill what the two systems hold for each other
    _, token = ring.create([long], "reader")
    for _ in range(10):
        publish(*["sealed"] * 2_000, resource=long)
    address = served.url.removeprefix("http://").split(":")
    head = f"Host: x\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n"
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((address[0], int(address[1])))
        deaf.sendall(f"GET {EVENTS}?after=0&limit=500 HTTP/1.1\r\n{head}".encode())
        wait_until(lambda: served.streams.open == 1, "the stream")
        wait_until(lambda: served.streams.open == 0, "the stream's end", 60)


def test_one_key_has_a_part_of_the_streams(narrow):
    http, _ = narrow
    streams, lane = http.app.state.streams, shares.Lane(http.app.state.app_state.shares.limits)
    streams.take(lane)
    with pytest.raises(shares.HTTPException) as refused:
        streams.take(lane)
    streams.take(other := shares.Lane(http.app.state.app_state.shares.limits))

    assert refused.value.status_code == 429
    assert (streams.open, lane.streams, other.streams) == (2, 1, 1)
