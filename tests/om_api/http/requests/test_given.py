"""Messages as they are given: what cannot be accepted is named by its place, and nothing of its batch is kept.

Large bodies say and do what small ones do, off the event loop.
"""

import json
import time

import msgspec
import pytest
from fastapi.exceptions import RequestValidationError
from refusals import problem

from om_api.http.requests.given import GivenMessage, take
from om_api.http.routes import messages
from om_api.http.serving.limits import MAX_BATCH, MAX_HISTORY, MAX_MESSAGE, SMALL_BODY

HAROLD = "/v1/resources/harold"
MESSAGES = f"{HAROLD}/threads/t-1/messages"
SYNC = f"{HAROLD}/threads/t-1/sync"
GOOD = {"id": "m-1", "role": "user", "content": "x", "tokens": 1}
WIDE = {"metadata": {"room": "y" * SMALL_BODY}}
JSON = {"Content-Type": "application/json"}


def send(ask, given, path=MESSAGES):
    return ask("POST", path, content=given if isinstance(given, bytes) else json.dumps(given), headers=JSON)


@pytest.mark.parametrize(("more", "status"), [({}, 400), (WIDE, 422)])
def test_a_number_that_nobody_can_read_is_told(ask, more, status):
    good, bad = json.dumps({**GOOD, **more}), '{"role": "user", "content": "x", "n": %s}' % ("9" * 5_000)
    refused = send(ask, f'{{"messages": [{good}, {bad}]}}'.encode())

    assert "too long for readers of JSON" in problem(refused, status)["detail"]
    assert ("body.messages[1]" in str(refused.json())) is (status == 422)


@pytest.mark.parametrize(
    ("wrong", "where", "what"),
    [
        ({"role": "robot"}, "body.messages[1].role", "'tool', 'developer', 'function' or 'model'"),
        ({"content": 5}, "body.messages[1].content", "string"),
        ({"tokens": -1}, "body.messages[1].tokens", "greater than or equal to 0"),
        ({"tokens": "5"}, "body.messages[1].tokens", "valid integer"),
        ({"tokens": True}, "body.messages[1].tokens", "valid integer"),
        ({"id": "a/b"}, "body.messages[1].id", "A-Za-z0-9"),
        ({"content": [{"type": "text"}]}, "messages[1]: message m-1", "a text part needs a text"),
        ({"role": None}, "messages[1]: message m-1", "role is missing: it is one of user"),
        ({"content": None}, "messages[1]", "content must be text or a list of parts"),
        ({"timestamp": "soon"}, "messages[1]: message m-1", "ISO 8601"),
        ({"content": "\ud800"}, "messages[1]", "JSON"),
        ({"content": "x" * MAX_MESSAGE}, "messages[1]: message m-1 takes", f"{MAX_MESSAGE:,}: split it"),
    ],
)
def test_a_message_that_cannot_be_accepted_is_named_by_its_place_and_none_of_its_batch_is_kept(
    ask, world, wrong, where, what
):
    found = problem(
        ask("POST", MESSAGES, content=json.dumps({"messages": [GOOD, {**GOOD, **wrong}]}), headers=JSON), 422
    )

    assert where in found["detail"]
    assert what in found["detail"]
    assert "nothing was kept" in found["detail"]
    assert list(world.client.scan_iter(f"{world.prefix}:{{*")) == []


@pytest.mark.parametrize("wide", [{}, WIDE], ids=["small", "large"])
@pytest.mark.parametrize("replace", ["yes", 1, None])
def test_whether_to_replace_is_a_yes_or_a_no_in_a_body_of_any_size(ask, replace, wide):
    found = problem(send(ask, {"messages": [{**GOOD, **wide}], "replace": replace}), 422)

    assert found["errors"] == [{"where": "body.replace", "what": "Input should be a valid boolean"}]


@pytest.mark.parametrize("wide", [{}, WIDE], ids=["small", "large"])
@pytest.mark.parametrize("wrong", [{"replace": True}, {"messages": []}, {"messages": [{**GOOD, "role": "robot"}]}])
def test_a_history_that_cannot_be_accepted_keeps_nothing(ask, world, wrong, wide):
    found = problem(send(ask, {"messages": [GOOD], "pad": wide or None, **wrong}, SYNC), 422)

    assert "nothing was kept" in found["detail"]
    assert list(world.client.scan_iter(f"{world.prefix}:{{*")) == []


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"content": [{"type": "text", "text": 7}]}, "a text part needs a text"),
        ({"content": "x" * MAX_MESSAGE}, f"{MAX_MESSAGE:,}: split it"),
    ],
)
def test_a_message_of_a_history_that_cannot_be_accepted_is_named_by_its_place(ask, world, wrong, what):
    found = problem(send(ask, {"messages": [GOOD, {**GOOD, "id": "m-2", **wrong}]}, SYNC), 422)

    assert found["detail"].startswith("messages[1]: message m-2")
    assert what in found["detail"]
    assert list(world.client.scan_iter(f"{world.prefix}:{{*")) == []


def test_a_history_holds_ten_thousand_messages_and_no_more(ask):
    given = [{"role": "user", "content": f"turn {n}", "tokens": 1} for n in range(MAX_HISTORY + 1)]

    assert f"1 to {MAX_HISTORY:,} items" in problem(send(ask, {"messages": given}, SYNC), 422)["detail"]
    assert send(ask, {"messages": given[1:]}, SYNC).json()["added"] == MAX_HISTORY


def test_a_history_that_says_the_same_over_and_over_is_compared_in_no_time(ask):
    """Catches a comparison that grows with the square of it: ten thousand times "ok" took 18 s each time it was sent again."""
    given = [{"role": "user", "content": "ok", "tokens": 1}] * MAX_HISTORY
    send(ask, {"messages": given}, SYNC)
    began = time.monotonic()
    again = send(ask, {"messages": given}, SYNC).json()
    other = send(ask, {"messages": [*given[1:5_000], GOOD, *given[5_000:]]}, SYNC).json()
    send(ask, {"messages": [GOOD, *given[1:-1], {**GOOD, "id": "m-2"}]}, SYNC)

    assert (again["added"], again["known"], other["added"]) == (0, MAX_HISTORY, 1)
    assert time.monotonic() - began < 8


def test_a_long_history_is_taken_up_in_a_thread(ask, threads):
    given = [{"role": "user", "content": f"turn {n}", "tokens": 1} for n in range(2_000)]

    assert send(ask, {"messages": given}, SYNC).json()["added"] == 2_000
    assert threads == ["heavy"]


@pytest.mark.parametrize("body", [{}, [], {"messages": []}, {"messages": [GOOD] * (MAX_BATCH + 1)}, None, "x", 5])
def test_a_body_of_another_form_is_refused(ask, body):
    problem(ask("POST", MESSAGES, json=body), 422)


def test_what_nobody_knows_is_kept_beside_the_message(ask, world):
    given = {
        **GOOD,
        "colour": "red",
        "annotations": [],
        "metadata": {"room": 4},
        "thread_id": "t-9",
        "resourceId": "ada",
    }

    assert ask("POST", MESSAGES, json={"messages": [given]}).status_code == 200
    (kept,) = world.context().messages
    assert kept.metadata == {"colour": "red", "room": 4}


def test_a_large_push_is_taken_up_in_a_thread_and_a_small_one_is_not(ask, threads):
    parts = [{"type": "text", "text": "word"}, {"type": "image", "url": "https://a.example/i.png"}] * 2_000
    given = [{"id": "m-1", "role": "user", "content": parts}, {**GOOD, "id": "m-2", **WIDE}]

    assert send(ask, {"messages": [GOOD]}).json()["added"] == 1
    assert threads == []
    found = send(ask, {"messages": given}).json()
    assert (found["added"], [each["id"] for each in found["changed"]]) == (1, ["m-1"])
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


def test_geminis_parts_are_not_copied_by_the_model_either():
    part = {"text": "x" * 20_000}
    (taken,) = messages.take(msgspec.json.encode({"messages": [{"role": "model", "parts": [part]}]})).messages

    assert (taken.parts, taken.content) == ([part], None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "robot"},
        {"content": 5},
        {"content": [5]},
        {"content": [{"type": "text"}]},
        {"tokens": "5"},
        {"id": "a/b"},
        {"name": 5},
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


def test_a_message_is_as_long_as_its_bytes_however_little_they_say():
    """Space counts: without the bound a body of nothing else would be read as one message."""
    said = json.dumps({"role": "user", "content": "x"}).encode()
    fits = said[:-1] + b" " * (6 * MAX_MESSAGE - len(said)) + b"}"

    assert take(b'{"messages": [' + fits + b"]}").messages[0].content == "x"
    with pytest.raises(RequestValidationError, match="split it"):
        take(b'{"messages": [' + fits[:-1] + b" }]}")
