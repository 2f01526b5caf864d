"""Every reply is of the form that the document says; a large one in pieces is, to the byte, what it would be as a whole."""

import json

import jsonschema
import msgspec
import pytest
from served import settings_of
from world import World

from om_api.domain.values import Outcome
from om_api.http.requests import replies
from om_api.store.fleet import webhook_queue, webhook_records
from om_api.store.memory import due

OF_ALL = ("/v1/costs", "/v1/series", "/metrics")  # which the key of two resources may not ask


@pytest.fixture
def settings(settings):
    """An agent with a working memory, who shares what it decides, and of whom a hook nobody installed is asked."""
    kept = {
        "working_memory__template": "- Name:",
        "compose": "[{resource: team, share: [decisions]}]",
        "shared_by": "[harold]",
    }
    return settings_of(settings, **kept, hooks__after_reflect="[{entry_point: calm}]")


def test_every_reply_and_every_refusal_is_of_the_form_that_openapi_says(full, using, app):
    ask = using("operator", "harold", "team")
    document = app.get("/v1/openapi.json").json()
    full.client.rpush(f"{full.prefix}:{{harold}}:rejected", b"?")
    _with_a_review(full)
    filled = {
        "webhook": _with_a_dead_delivery(full), "resource": "harold", "thread": "t-1", "n": 1,
        "group": _with_a_group(full), "observation": full.om.observations("harold")[0].id, "message": "a-1",
    }  # fmt: skip
    full.om.add_line("User never flies", "harold", "t-1")
    full.om.pin("User never flies", "harold")
    full.om.alias_thread("t-other", "t-1", "harold")
    for name in ("Harold", "Harald"):
        ask("PATCH", "/v1/resources/harold/working-memory", json={"fields": {"Name": name}})
    reads = [path for path, methods in document["paths"].items() if "get" in methods and not path.endswith("/export")]
    for path in reads:
        answer = ask("GET", path.format(**filled), params={"q": "about"} if path.endswith("/recall") else {})
        assert answer.status_code == (403 if path in OF_ALL else 200), path
        _check(document, path, answer)
        assert answer.json() not in ({"items": [], "next": None}, []), path
        _check(document, path, app.get(path.format(**filled)))
        _check(document, path, ask("GET", path.format(**filled), params={"cursor": "%"}))


def _with_a_group(world):
    """The name of a group, as if what its generation replaced had been set aside."""
    key, name = f"{world.prefix}:{{harold}}:reflected:1", "k3fq7a2m"
    for member, seq in world.client.zrange(key, 0, -1, withscores=True):
        world.client.zrem(key, member)
        world.client.zadd(key, {json.dumps({**json.loads(member), "group": name}): seq})
    world.client.persist(key)
    return name


def _with_a_review(world):
    """A reflection of harold's waits for somebody to approve it."""
    asks = World(world.client, world.prefix, reflection__review="ask")
    asks.om.force_reflect("harold")
    assert asks.reflector().reflect("harold") is Outcome.PROPOSED


def _with_a_dead_delivery(world):
    """A webhook of harold's, of which one delivery was given up."""
    run, keys = world.services.run, world.services.keys
    made = run(webhook_records.add(keys, "https://example.org", (), ("harold",), allow_private=False))
    run(webhook_queue.try_out(keys, made))
    (tried,) = run(webhook_queue.due_now(keys, made.id, run(due.server_ms()), 9))
    run(webhook_queue.attempted(keys, made.id, tried, "dead", "answered 500"))
    return made.id


def _check(document, path, answer):
    kinds = document["paths"][path]["get"]["responses"][str(answer.status_code)]["content"]
    told = kinds[answer.headers["content-type"]]
    jsonschema.validate(answer.json(), {**told["schema"], "components": document["components"]})


class Sparse(msgspec.Struct, omit_defaults=True, tag_field="kind", tag="tagged"):
    said: str
    more: str = ""


def test_pieces_are_the_bytes_of_the_whole(monkeypatch):
    monkeypatch.setattr(replies, "_PIECE", 50)
    for value in [
        *(None, 1.5, "x" * 200, ["é" * 200, []], (1, 2)), {"a": {}, "b": ["x", {"c": None}]},
        {"\u2028": "\u2028\x01" * 99}, [Sparse("x"), Sparse("x", "y")],
    ]:  # fmt: skip
        found = replies.pieces(value)
        assert b"".join(found) == msgspec.json.encode(value)
        assert max(map(len, found)) < 800, value
