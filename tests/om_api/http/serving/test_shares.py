"""What one key has in flight is bounded, and its heavy work stands nobody else in the way."""

import asyncio
import threading

import pytest
from fastapi import HTTPException

from om_api.http.serving.limits import LARGE, SMALL_BODY
from om_api.http.serving.shares import SHARE, Shares, aside
from om_api.settings.sections.api_settings import ApiSettings

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
GOOD = {"id": "m-1", "role": "user", "content": "x", "tokens": 1}
WIDE = {"metadata": {"room": "y" * (SMALL_BODY - 20)}}
SMALL = [b"x", [[b"member", 1.0]], None]


def play(scene, **limits):
    async def on_stage():
        shares = Shares(ApiSettings(**limits))
        try:
            return await scene(shares)
        finally:
            shares.close()

    return asyncio.run(on_stage())


def staged(**limits):
    """A test that is a scene."""

    def made(scene):
        def test():
            play(scene, **limits)

        return test

    return made


def refused(ask):
    with pytest.raises(HTTPException) as found:
        ask()
    assert (found.value.status_code, found.value.headers) == (429, {"Retry-After": "1"})
    return found.value.detail


@staged(bytes_per_key=2_000_000)
async def test_bytes_in_flight_are_bounded_for_each_key_and_one_request_may_have_them_all(shares):
    one, other = shares.enter("a"), shares.enter("a")
    one.hold(3_000_000)
    one.hold(3_000_000)
    assert "2,000,000 bytes" in refused(lambda: other.hold(1))
    assert "2,000,000 bytes" in refused(lambda: shares.enter("a"))
    shares.enter("b").hold(1_000_000)
    one.close()
    other.hold(2_000_000)
    other.close()
    assert list(shares.lanes) == ["b"]


@staged()
async def test_small_replies_are_taken_up_where_they_are_and_large_ones_in_a_thread(shares):
    assert aside([b"x" * LARGE * 2], threading.get_ident) is None  # no request
    SHARE.set(share := shares.enter("a"))
    assert aside(SMALL, threading.get_ident) is None
    assert await aside([[b"x" * LARGE, 1.0], b"x"], threading.get_ident) != threading.get_ident()
    assert await aside(SMALL, threading.get_ident) != threading.get_ident()  # what is made of the large one
    assert share.lane.bytes == LARGE + 1
    share.close()


def test_of_each_key_one_request_computes_at_a_time_and_another_key_waits_for_none_of_them():
    async def scene(shares):
        begun, may_end, log = threading.Event(), threading.Event(), []

        def long():
            log.append("a begins")
            begun.set()
            may_end.wait(30)
            log.append("a ends")

        async def request(key, *jobs):
            share = shares.enter(key)
            try:
                for job in jobs:
                    await share.work(job)
                share.handled()
            finally:
                share.close()

        first = asyncio.create_task(request("a", long))
        await asyncio.to_thread(begun.wait, 30)
        others = [asyncio.create_task(request("a", lambda: log.append("a again"))) for _ in range(5)]
        await asyncio.sleep(0)
        await request("b", lambda: log.append("b"), lambda: log.append("b"))
        may_end.set()
        await asyncio.gather(first, *others)
        return log

    assert play(scene) == ["a begins", "b", "b", "a ends", *["a again"] * 5]


@staged()
async def test_a_key_that_reads_much_asks_the_store_one_request_after_the_other(shares):
    one, other, third = (shares.enter("a") for _ in range(3))
    await one.read()
    await other.read()
    assert one.large_by(LARGE + 1)
    await one.read()
    waiting = asyncio.create_task(third.read())
    await asyncio.sleep(0)
    assert not waiting.done()
    one.handled()
    await waiting
    for share in (one, other, third):
        share.close()
    await shares.enter("a").read()


@staged()
async def test_a_job_that_fails_lets_the_next_one_go_on(shares):
    share = shares.enter("a")
    with pytest.raises(ZeroDivisionError):
        await share.work(lambda: 1 // 0)
    share.close()
    again = shares.enter("a")
    assert await again.work(lambda: "done") == "done"
    again.close()
    assert not shares.lanes


def test_whoever_has_too_much_in_flight_is_told_to_come_back_and_others_are_answered(narrow):
    http, key = narrow
    mine, other = key(), key()
    shares = http.app.state.app_state.shares
    taken = [shares.enter(mine["Authorization"].split("_")[1]) for _ in range(2)]
    found = [http.get(f"{HAROLD}/threads", headers=who) for who in (mine, other)]
    assert [answer.status_code for answer in found] == [429, 200]
    assert (found[0].headers["retry-after"], "2 requests of this key" in found[0].json()["detail"]) == ("1", True)
    for share in taken:
        share.close()
    assert http.get(f"{HAROLD}/threads", headers=mine).status_code == 200


def test_nothing_is_counted_of_what_is_over_or_hung_up(ask, app, say, ring):
    say("m-1")
    for method, path, given in [
        ("GET", f"{HAROLD}/threads/t-1/context", {}), ("GET", f"{HAROLD}/threads?limit=0", {}),
        ("GET", "/v1/resources/albert/stats", {}), ("GET", f"{HAROLD}/export", {}),
        ("POST", MESSAGES, {"content": b"{"}),
        ("POST", MESSAGES, {"json": {"messages": [{**GOOD, **WIDE}]}}),
        ("POST", MESSAGES, {"content": b"x" * 9_000_000}),
        ("POST", f"{HAROLD}/threads/t-1/sync", {"json": {"messages": [{**GOOD, **WIDE}]}}),
        ("POST", f"{HAROLD}/import", {"content": b"x"}),
    ]:  # fmt: skip
        ask(method, path, **given)
        assert app.app.state.app_state.shares.lanes == {}, path

    token = f"Bearer {ring.create(['harold'], 'writer')[1]}"
    assert hang_up_after(app, token, b"{")[0]["status"] == 400
    assert app.app.state.app_state.shares.lanes == {}


def hang_up_after(http, authorization, body, awaited=lambda: None):
    """Begin a push, and be gone after a part of its body; what was answered. `awaited` is called at each wait."""
    came = iter([{"type": "http.request", "body": body, "more_body": True}, {"type": "http.disconnect"}])
    sent = []

    async def receive():
        awaited()
        return next(came)

    async def send_it(message):
        sent.append(message)

    headers = [(b"authorization", authorization.encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": MESSAGES, "query_string": b"", "headers": headers}
    http.portal.call(http.app, scope, receive, send_it)
    return sent


def test_while_a_body_is_awaited_its_keys_turns_are_left_to_others_and_what_came_is_counted(narrow):
    """Catches slow uploads that keep every other request of their key waiting, and many that fill the memory."""
    http, key = narrow
    taken = []

    def look():
        (lane,) = http.app.state.app_state.shares.lanes.values()
        taken.append((lane.turns.locked(), lane.bytes))

    hang_up_after(http, key()["Authorization"], b"{" * 500, look)

    assert taken == [(False, 0), (False, 500)]
