"""Messages as they are given: what cannot be accepted is named by its place, and nothing of its batch is kept.

Large bodies say and do what small ones do, off the event loop.
"""

import asyncio
import json
import threading

import pytest
from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from refusals import problem
from served import serving, settings_of

from om_api.http.requests.bounded import bounded
from om_api.http.requests.given import take
from om_api.http.serving.limits import MAX_BATCH, MAX_BODY, MAX_HISTORY, MAX_MESSAGE, SMALL_BODY
from om_api.redaction.redactor import Redactor

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
SYNC = f"{HAROLD}/threads/t-1/sync"
GOOD = {"id": "m-1", "role": "user", "content": "x", "tokens": 1}
WIDE = {"metadata": {"room": "y" * (SMALL_BODY - 20)}}
JSON = {"Content-Type": "application/json"}


def send(ask, given, path=MESSAGES):
    return ask("POST", path, content=given if isinstance(given, bytes) else json.dumps(given), headers=JSON)


@pytest.fixture
def kept(world):
    """What is kept of anybody."""
    return lambda: list(world.client.scan_iter(f"{world.prefix}:{{*"))


def test_a_message_that_cannot_be_accepted_is_named_by_its_place_and_none_of_its_batch_is_kept(ask, kept):
    """In a large body as in a small one, with the same words."""
    at = "messages[1]: message m-1"
    for wrong, where, what in [
        ({"role": "robot"}, "body.messages[1].role", "'tool', 'developer', 'function' or 'model'"),
        ({"content": 5}, "body.messages[1].content", "string"),
        ({"tokens": -1}, "body.messages[1].tokens", "greater than or equal to 0"),
        ({"tokens": "5"}, "body.messages[1].tokens", "valid integer"),
        ({"tokens": True}, "body.messages[1].tokens", "valid integer"),
        ({"id": "a/b"}, "body.messages[1].id", "A-Za-z0-9"), ({"name": 5}, "body.messages[1].name", "string"),
        ({"content": [{"type": "text"}]}, at, "a text part needs a text"),
        ({"role": None}, at, "role is missing: it is one of user"),
        ({"content": None}, "messages[1]", "content must be text or a list of parts"),
        ({"timestamp": "soon"}, at, "ISO 8601"),
        ({"metadata": {"a": [[]] * 22_000}}, at, "metadata is too large: at least 66,007 bytes (maximum 65,536)"),
        ({"content": "x" * MAX_MESSAGE}, f"{at} is too large", f"(maximum {MAX_MESSAGE:,}); split it"),
    ]:  # fmt: skip
        bad = {**GOOD, **wrong}
        small = problem(send(ask, {"messages": [GOOD, bad]}), 422)
        large = send(ask, {"messages": [{**GOOD, **WIDE}, bad]})
        assert where in small["detail"], wrong
        assert what in small["detail"], wrong
        assert "nothing was kept" in small["detail"]
        assert (large.status_code, large.json()) == (422, small), wrong
        assert kept() == []


def test_message_names_the_first_faulty_part_and_a_large_one_has_at_most_so_many_parts(ask):
    for name in ("content", "parts", "tool_calls"):
        faulty = {"role": "user", "content": "x", name: [1] * 9_000}
        for message in (faulty, {**faulty, **WIDE}):
            found = problem(send(ask, {"messages": [message, *[faulty] * 2]}), 422)["errors"]
            assert len(found) <= 3, name
            assert all(each["where"].startswith(f"body.messages[0].{name}") for each in found)
        many = {"role": "user", "content": "x", name: [{}] * (SMALL_BODY // 2)}
        (fault,) = problem(send(ask, {"messages": [many]}), 422)["errors"]
        assert fault == {"where": "body.messages[0]", "what": "too many parts: 32,768 (maximum 10,000); split it"}


def test_a_number_that_nobody_can_read_is_told(ask):
    for more, status in (({}, 400), (WIDE, 422)):
        good, bad = json.dumps({**GOOD, **more}), '{"role": "user", "content": "x", "n": %s}' % ("9" * 5_000)
        refused = send(ask, f'{{"messages": [{good}, {bad}]}}'.encode())
        assert "too long for readers of JSON" in problem(refused, status)["detail"]
        assert ("body.messages[1]" in str(refused.json())) is (status == 422)


def test_whether_to_replace_is_a_yes_or_a_no_in_a_body_of_any_size(ask):
    for replace, wide in (("yes", {}), (1, WIDE), (None, {}), (None, WIDE)):
        found = problem(send(ask, {"messages": [{**GOOD, **wide}], "replace": replace}), 422)
        assert found["errors"] == [{"where": "body.replace", "what": "Input should be a valid boolean"}]


def test_a_history_that_cannot_be_accepted_keeps_nothing_and_names_the_place(ask, kept):
    for wrong in ({"replace": True}, {"messages": []}, {"messages": [{**GOOD, "role": "robot"}]}):
        for wide in (None, WIDE):
            found = problem(send(ask, {"messages": [GOOD], "pad": wide, **wrong}, SYNC), 422)
            assert "nothing was kept" in found["detail"], wrong
    wrong = {**GOOD, "id": "m-2", "content": [{"type": "text", "text": 7}]}
    assert problem(send(ask, {"messages": [GOOD, wrong]}, SYNC), 422)["detail"].startswith("messages[1]: message m-2")
    many = [{**GOOD, "id": f"m-{n}"} for n in range(MAX_HISTORY + 1)]
    assert f"1 to {MAX_HISTORY:,} items" in problem(send(ask, {"messages": many}, SYNC), 422)["detail"]
    assert kept() == []


@pytest.mark.nightly
@pytest.mark.timeout(60)
def test_a_history_that_says_the_same_over_and_over_is_compared_in_no_time(ask):
    """Catches a comparison that grows with the square of it: ten thousand times "ok" took 18 s each time it was sent again."""
    given = [{"role": "user", "content": "ok", "tokens": 1}] * MAX_HISTORY
    for history, added in ((given, MAX_HISTORY), (given, 0), ([*given[1:5_000], GOOD, *given[5_000:]], 1)):
        assert send(ask, {"messages": history}, SYNC).json()["added"] == added


def test_what_is_large_is_taken_up_in_a_thread_and_kept_as_it_was_said(ask, threads, world):
    parts = [{"type": "text", "text": f'a "quoted" \\ word {{[ {n} é \U0001f600'} for n in range(2_000)]
    given = [{**GOOD, "id": "m-2", **WIDE}, {"id": "m-1", "role": "user", "content": parts, "tokens": 5}]

    assert send(ask, {"messages": [{**GOOD, "id": "m-0"}]}).json()["added"] == 1
    assert threads == []
    assert send(ask, {"messages": given}).json()["added"] == 2
    assert threads == ["heavy"]
    assert [each.content for each in world.context().messages if each.id == "m-1"] == [parts]

    history = [{"role": "user", "content": f"turn {n}", "tokens": 1} for n in range(2_000)]
    assert send(ask, {"messages": history}, SYNC.replace("t-1", "t-2")).json()["added"] == 2_000
    assert threads == ["heavy"] * 2

    for n, kind in enumerate(("application/x+json", "APPLICATION/JSON ;charset=utf-8", " application/json")):
        body = json.dumps({"messages": [{**GOOD, "id": f"k-{n}", **WIDE}]})
        assert ask("POST", MESSAGES, content=body, headers={"Content-Type": kind}).json()["added"] == 1
        assert threads == ["heavy"] * (3 + n), kind


def test_redacted_pushes_are_prepared_off_the_event_loop(settings, ring, monkeypatch):
    """The search for cards in 200 kB took 14 s of the event loop, while all others waited."""
    seen, redact = set(), Redactor.message

    def noting(*given):
        seen.add(threading.current_thread().name.split("_")[0])
        return redact(*given)

    monkeypatch.setattr(Redactor, "message", noting)
    _, token = ring.create(["harold"], "writer")
    body = json.dumps({"messages": [{**GOOD, "content": "4111 1111 1111 1111 " * 300}]}).encode()
    with serving(settings_of(settings, redaction__before="store")) as http:
        for path in (MESSAGES, SYNC.replace("t-1", "t-2")):
            answer = http.post(path, content=body, headers={**JSON, "Authorization": f"Bearer {token}"})
            assert answer.json()["added"] == 1
        other = {"messages": [{**GOOD, "id": "m-2"}]}  # a small body: what is stored is redacted again, to be compared
        assert http.post(
            SYNC.replace("t-1", "t-2"), json=other, headers={"Authorization": f"Bearer {token}"}
        ).is_success
    assert seen == {"heavy"}


def test_a_message_whose_letters_are_sent_as_escapes_is_measured_as_it_is_kept(ask, world):
    """Go's encoder writes `<` in six bytes: a message of well below the bound was refused for what it took on the way."""
    said = "<" * (MAX_MESSAGE * 9 // 10)
    body = json.dumps({"messages": [{**GOOD, "content": said, "tokens": 5}]}).replace("<", "\\u003c")
    answer = send(ask, body.encode())

    assert answer.status_code == 200
    assert world.context().messages[0].content == said


def test_a_large_body_that_is_no_push_is_a_problem(ask):
    for body, status in [
        (b'{"messages": [' + b" " * SMALL_BODY, 400), (b'{"messages": [{"id": NaN}]}' + b" " * SMALL_BODY, 400),
        (b"[" * SMALL_BODY * 2, 422),
        (b'{"messages": [' + b"[" * 500_000 + b"]" * 500_000 + b"]}", 400),
        (b"[]" + b" " * SMALL_BODY, 422), (b'{"messages": []}' + b" " * SMALL_BODY, 422),
        (b'{"messages": [], "more": 1}' + b" " * SMALL_BODY, 422),
        (json.dumps({"messages": [{**GOOD, **WIDE}] * (MAX_BATCH + 1)})[: 7 * 2**20].encode(), 400),
        (json.dumps({"messages": [GOOD] * (5 * MAX_BATCH)}).encode(), 422),
        (json.dumps({"messages": [{**GOOD, "metadata": {"a": [[]] * 200_000}}]}).encode(), 422),
        (json.dumps({"messages": [{**GOOD, "content": "\x01" * MAX_MESSAGE}]}).encode(), 422),
    ]:  # fmt: skip
        answer = send(ask, body)
        told = answer.status_code, answer.headers["content-type"]
        assert told == (status, "application/problem+json"), body[:40]
        assert len(answer.json()["detail"]) < 1_000, body[:40]


def test_a_message_is_as_long_as_its_bytes_however_little_they_say():
    """Space counts: without the bound a body of nothing else would be read as one message."""
    said = json.dumps({"role": "user", "content": "x"}).encode()
    fits = said[:-1] + b" " * (6 * MAX_MESSAGE - len(said)) + b"}"

    assert take(b'{"messages": [' + fits + b"]}").messages[0].content == "x"
    with pytest.raises(RequestValidationError, match="split it"):
        take(b'{"messages": [' + fits[:-1] + b" }]}")


def test_a_body_that_is_too_large_is_refused_as_it_comes(ask):
    def pieces():
        yield b'{"messages": ["'
        for _ in range(MAX_BODY // 65_536 + 1):
            yield b"x" * 65_536

    assert ask("POST", f"{HAROLD}/observe", content=b" " * (SMALL_BODY + 1), headers=JSON).status_code == 413
    for path, body in (("messages", pieces()), ("sync", b"x" * (MAX_BODY + 1))):
        answer = ask("POST", f"{HAROLD}/threads/t-1/{path}", content=body, headers=JSON)
        assert f"{MAX_BODY:,}" in problem(answer, 413)["detail"]


def test_a_body_of_exactly_what_is_permitted_is_read_though_nobody_said_its_length():
    async def read(size):
        pieces = iter([{"type": "http.request", "body": b"x" * size, "more_body": False}])

        async def receive():
            return next(pieces)

        return await bounded(Request({"type": "http", "headers": []}, receive), 100, lambda _: None).body()

    assert asyncio.run(read(100)) == b"x" * 100
    with pytest.raises(HTTPException) as refused:
        asyncio.run(read(101))
    assert refused.value.status_code == 413
