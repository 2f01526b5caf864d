"""Large bodies and large contexts over HTTP say and do what small ones do, off the event loop; and one key leaves room."""

from __future__ import annotations

import json
import threading

import httpx2
import msgspec
import pytest
from starlette.testclient import TestClient

from om_api.http import contexts, make_app, messages, pieces, shares
from om_api.http.given import GivenMessage
from om_api.http.limits import MAX_BATCH, MAX_MESSAGE, SMALL_BODY
from om_api.settings import load_settings

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
GOOD = {"id": "m-1", "role": "user", "content": "x", "tokens": 1}
WIDE = {"metadata": {"room": "y" * SMALL_BODY}}
JSON = {"Content-Type": "application/json"}


def send(ask, given):
    return ask("POST", MESSAGES, content=given if isinstance(given, bytes) else json.dumps(given), headers=JSON)


@pytest.fixture
def threads(monkeypatch):
    """In which threads bodies were taken up, and contexts shown."""
    seen = []

    def noting(work):
        return lambda *given: seen.append(threading.current_thread().name.split("_")[0]) or work(*given)

    monkeypatch.setattr(messages, "take", noting(messages.take))
    monkeypatch.setitem(contexts._SHOW, "openai", noting(contexts._SHOW["openai"]))
    return seen


def test_a_large_push_is_taken_up_in_a_thread_and_a_small_one_is_not(ask, threads):
    parts = [{"type": "text", "text": "word"}, {"type": "image", "url": "https://a.example/i.png"}] * 2_000
    given = [{"id": "m-1", "role": "user", "content": parts}, {**GOOD, "id": "m-2", **WIDE}]

    assert send(ask, {"messages": [GOOD]}).json()["added"] == 1
    assert threads == []
    assert send(ask, {"messages": given}).json() == {"ids": ["m-1", "m-2"], "added": 1, "duplicates": ["m-1"]}
    assert threads == ["heavy"]


def test_what_a_large_push_says_is_kept_as_it_was_said(ask, world):
    parts = [{"type": "text", "text": f'a "quoted" \\ word {{[ {n} é \U0001f600'} for n in range(2_000)]
    send(ask, {"messages": [{"id": "m-1", "role": "user", "content": parts, "tokens": 5}]})

    (kept,) = world.context().messages
    assert (kept.content, kept.tokens) == (parts, 5)


def test_no_step_of_taking_up_a_large_message_is_long(monkeypatch):
    """Catches one that is read, or copied by the model, all at once: every other request waits for that."""
    read, checked = [], []
    decode, validate = msgspec.json.decode, GivenMessage.model_validate
    part = {"type": "text", "text": ""}
    part["text"] = "x" * (16 * 1024 - len(msgspec.json.encode(part)))
    body = msgspec.json.encode({"messages": [{"role": "user", "content": [part, {**part, "more": [1, 2]}]}]})

    def reading(raw, **kind):
        read.append(0 if kind else len(raw))
        return decode(raw, **kind)

    monkeypatch.setattr(msgspec.json, "decode", reading)
    monkeypatch.setattr(GivenMessage, "model_validate", lambda given: checked.append(given) or validate(given))
    (taken,) = messages.take(body).messages

    assert taken.content == [part, {**part, "more": [1, 2]}]
    assert max(read) == 16 * 1024
    assert [given["content"] for given in checked] == [[]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "robot"},
        {"content": 5},
        {"content": ["text"]},
        {"content": [{"type": "song"}]},
        {"tokens": "5"},
        {"id": "a/b"},
        {"colour": "red"},
        {"content": "x" * MAX_MESSAGE},
    ],
)
def test_a_large_body_is_refused_in_the_words_of_a_small_one(ask, wrong, world):
    body = {"messages": [GOOD, {**GOOD, **wrong}]}
    small, large = send(ask, body), send(ask, {"messages": [{**GOOD, **WIDE}, *body["messages"][1:]]})

    assert (large.status_code, large.json()) == (422, small.json())
    assert list(world.client.scan_iter(f"{world.prefix}:{{*")) == []


def test_a_message_whose_letters_are_sent_as_escapes_is_measured_as_it_is_kept(ask, world):
    """Go's encoder writes `<` in six bytes: a message of well below the bound was refused for what it took on the way."""
    said = "<" * (MAX_MESSAGE * 9 // 10)
    body = json.dumps({"messages": [{**GOOD, "content": said, "tokens": 5}]}).replace("<", "\\u003c")
    answer = send(ask, body.encode())

    assert answer.status_code == 200
    assert world.context().messages[0].content == said


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"messages": [' + b" " * SMALL_BODY, 400),
        (b'{"messages": [{"id": NaN}]}' + b" " * SMALL_BODY, 400),
        (b"[" * SMALL_BODY * 2, 422),
        (b'{"messages": [' + b"[" * 500_000 + b"]" * 500_000 + b"]}", 400),
        (b"[]" + b" " * SMALL_BODY, 422),
        (b'{"messages": []}' + b" " * SMALL_BODY, 422),
        (b'{"messages": [], "more": 1}' + b" " * SMALL_BODY, 422),
        (json.dumps({"messages": [{**GOOD, **WIDE}] * (MAX_BATCH + 1)})[: 7 * 2**20].encode(), 400),
        (json.dumps({"messages": [GOOD] * (5 * MAX_BATCH)}).encode(), 422),
        (json.dumps({"messages": [{**GOOD, "content": "\x01" * MAX_MESSAGE}]}).encode(), 422),
    ],
)
def test_a_large_body_that_is_no_push_is_a_problem(ask, body, status):
    answer = send(ask, body)

    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert len(answer.json()["detail"]) < 1_000


def test_a_body_that_adds_no_messages_is_small(ask):
    assert ask("POST", f"{HAROLD}/observe", content=b" " * (SMALL_BODY + 1), headers=JSON).status_code == 413


@pytest.mark.parametrize("form", ["text", "openai", "anthropic", "gemini", "blocks"])
def test_a_large_context_is_the_same_as_a_small_one_to_the_byte(say, ask, threads, monkeypatch, form):
    for n in range(20):
        say(f"m-{n}", content='a "long" story é \U0001f600 ' * 10)
    path = f"{HAROLD}/threads/t-1/context?format={form}"
    small = ask("GET", path)
    monkeypatch.setattr(shares, "LARGE", 100)
    monkeypatch.setattr(pieces, "_PIECE", 50)
    large = ask("GET", path)

    assert (large.content, large.headers["content-length"]) == (small.content, str(len(small.content)))
    assert [name == "heavy" for name in threads] == ([False, True] if form == "openai" else [])


@pytest.mark.parametrize(
    "value",
    [None, 1.5, "x" * 200, ["é" * 200, []], {"a": {}, "b": ["x", {"c": None}]}, (1, 2), {"\u2028": "\u2028\x01" * 99}],
)
def test_pieces_are_the_bytes_of_the_whole(value, monkeypatch):
    monkeypatch.setattr(pieces, "_PIECE", 50)
    found = pieces.pieces(value)

    assert b"".join(found) == msgspec.json.encode(value)
    assert max(map(len, found)) < 800


@pytest.fixture
def narrow(settings, ring):
    """An app with room for little, and somebody with a key."""
    given = load_settings(
        None,
        {
            "OM_PREFIX": settings.prefix,
            "OM_REDIS_URL": settings.redis_url,
            "OM_API__STREAMS_PER_KEY": "1",
            "OM_API__REQUESTS_PER_KEY": "2",
            "OM_API__TURNS_PER_KEY": "1",
        },
    )
    with TestClient(make_app(given), raise_server_exceptions=False) as http:
        yield http, lambda: {"Authorization": f"Bearer {ring.create(['harold'], 'writer')[1]}"}


def test_whoever_has_too_much_in_flight_is_told_to_come_back_and_others_are_answered(narrow):
    http, key = narrow
    mine, other = key(), key()
    http.get(f"{HAROLD}/stats", headers=mine)
    house = http.app.state.house
    taken = [house.shares.enter(mine["Authorization"].split("_")[1]) for _ in range(2)]
    refused = http.get(f"{HAROLD}/stats", headers=mine)

    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.headers["content-type"] == "application/problem+json"
    assert "2 requests of this key are in flight" in refused.json()["detail"]
    assert http.get(f"{HAROLD}/stats", headers=other).status_code == 200
    for share in taken:
        share.close()
    assert http.get(f"{HAROLD}/stats", headers=mine).status_code == 200


def test_one_key_has_a_part_of_the_streams(narrow):
    http, _ = narrow
    streams, lane = http.app.state.streams, shares.Lane(http.app.state.house.shares.limits)
    streams.take(lane)
    with pytest.raises(shares.HTTPException) as refused:
        streams.take(lane)
    streams.take(other := shares.Lane(http.app.state.house.shares.limits))

    assert refused.value.status_code == 429
    assert (streams.open, lane.streams, other.streams) == (2, 1, 1)


def test_nothing_is_counted_of_what_is_over(ask, app, say):
    say("m-1")
    for method, path, given in [
        ("GET", f"{HAROLD}/threads/t-1/context", {}),
        ("GET", f"{HAROLD}/threads?limit=0", {}),
        ("GET", "/v1/resources/albert/stats", {}),
        ("GET", f"{HAROLD}/export", {}),
        ("POST", MESSAGES, {"content": b"{"}),
        ("POST", MESSAGES, {"json": {"messages": [{**GOOD, **WIDE}]}}),
        ("POST", MESSAGES, {"content": b"x" * 9_000_000}),
        ("POST", f"{HAROLD}/import", {"content": b"x"}),
    ]:
        ask(method, path, **given)

    assert app.app.state.house.shares.lanes == {}


def hang_up_after(http, authorization, body, awaited=lambda: None):
    """Begin a push, and be gone after a part of its body; what was answered. `awaited` is called whenever more is awaited."""
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


def test_whoever_hangs_up_while_the_body_comes_is_let_go(app, ring):
    _, token = ring.create(["harold"], "writer")

    assert hang_up_after(app, f"Bearer {token}", b"{")[0]["status"] == 400
    assert app.app.state.house.shares.lanes == {}


def test_while_a_body_is_awaited_its_keys_turns_are_left_to_others_and_what_came_is_counted(narrow):
    """Catches slow uploads that keep every other request of their key waiting, and many that fill the memory."""
    http, key = narrow
    taken = []

    def look():
        (lane,) = http.app.state.house.shares.lanes.values()
        taken.append((lane.turns.locked(), lane.bytes))

    hang_up_after(http, key()["Authorization"], b"{" * 500, look)

    assert taken == [(False, 0), (False, 500)]


def test_the_document_is_written_once(app, monkeypatch):
    first = app.get("/v1/openapi.json")
    monkeypatch.setattr(app.app, "openapi", None)

    assert app.get("/v1/openapi.json").content == first.content
    assert isinstance(first, httpx2.Response)
