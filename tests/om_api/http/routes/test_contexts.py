"""A context over HTTP is the library's, in every format, large or small."""

import pytest

from om_api.http.requests import replies
from om_api.http.serving import shares

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


@pytest.mark.parametrize("form", ["text", "openai", "openai_responses", "anthropic", "gemini", "blocks"])
def test_a_context_is_the_librarys_in_every_format(say, ask, world, form):
    say(*[f"m-{n}" for n in range(12)])
    world.settle()
    own = world.context()
    meant = {"text": own.text, "openai": own.as_openai(), "anthropic": own.as_anthropic(), "gemini": own.as_gemini()}
    meant["openai_responses"] = own.as_openai_responses()
    found = ask("GET", f"{THREAD}/context", params={"format": form}).json()

    assert found["tokens"] == own.tokens
    if form == "blocks":
        assert [block["hash"] for block in found["context"]] == [block.hash for block in own.blocks]
        shown = [(block["kind"], block["id"]) for block in found["context"]]
        assert [name for kind, name in shown if kind == "message"] == [message.id for message in own.messages]
        assert not any(name for kind, name in shown if kind != "message")
    else:
        assert found["context"] == meant[form]


def test_a_context_names_what_of_the_past_it_looked_up(say, ask, world):
    say("m-1", content=f"We left the dog at a kennel {'for a long weekend ' * 3}that is called Barkwood.")
    for n in range(2, 12):
        say(f"m-{n}")
        world.settle()
    before = ask("GET", f"{THREAD}/context").json()
    say("m-12", content="Which kennel had the dog that long weekend?", thread="t-2")
    found = ask("GET", f"{HAROLD}/threads/t-2/context").json()
    own = world.context("t-2").recalled

    assert before["recalled"] == []
    assert found["recalled"] == [
        {"id": hit.id, "thread_id": hit.thread_id, "at": hit.at, "score": hit.score, "resource_id": "harold"}
        for hit in own
    ]
    assert [(each["id"], each["thread_id"]) for each in found["recalled"]] == [("m-1", "t-1")]


def test_a_context_can_be_capped_and_says_what_it_left_out(say, ask):
    say(*[f"m-{n}" for n in range(9)])

    found = ask("GET", f"{THREAD}/context", params={"max_tokens": 400}).json()
    assert found["omitted"] > 0
    assert "about m-8" in found["context"]
    assert "about m-0" not in found["context"]


@pytest.mark.parametrize("form", ["text", "openai", "openai_responses", "anthropic", "gemini", "blocks"])
def test_a_large_context_is_the_same_as_a_small_one_to_the_byte(say, ask, threads, monkeypatch, form):
    for n in range(20):
        say(f"m-{n}", content='a "long" story é \U0001f600 ' * 10)
    path = f"{HAROLD}/threads/t-1/context?format={form}"
    small = ask("GET", path)
    monkeypatch.setattr(shares, "LARGE", 100)
    monkeypatch.setattr(replies, "_PIECE", 50)
    large = ask("GET", path)

    assert (large.content, large.headers["content-length"]) == (small.content, str(len(small.content)))
    assert [name == "heavy" for name in threads] == ([False, True] if form == "openai" else [])


@pytest.fixture
def shared(world):
    """What harold and albert have noted, and what only berta has."""
    for resource in ("harold", "albert", "berta"):
        world.say(f"the vault of {resource} is blue", resource=resource, thread=f"of-{resource}")
        world.om.force_observe(f"of-{resource}", resource)
        world.settle()


def test_notes_of_other_resources_stand_in_it_where_the_key_is_bound_to_them(using, shared):
    both = using("reader", "harold", "albert")
    found = both("GET", f"{THREAD}/context", params={"also": "albert"}).json()
    refused = both("GET", f"{THREAD}/context", params={"also": ["albert", "berta"]})
    recalled = both("GET", f"{HAROLD}/recall", params={"q": "vault", "also": "albert"}).json()
    answer = both("POST", f"{HAROLD}/recall-tool", params={"also": "albert"}, json={"query": "vault"}).json()

    assert "the vault of albert is blue" in found["context"]
    assert list(found["composed"]) == ["albert"]
    assert refused.status_code == 403
    assert "berta" in refused.json()["detail"]
    assert both("GET", f"{HAROLD}/recall", params={"q": "vault", "also": "berta"}).status_code == 403
    assert both("POST", f"{HAROLD}/recall-tool", params={"also": "berta"}, json={"query": "vault"}).status_code == 403
    assert {hit["resource_id"] for hit in recalled["hits"]} == {"harold", "albert"}
    assert "of albert, message" in answer["text"]


@pytest.mark.parametrize("also", ["harold", "a b", ["albert", "albert"], [f"r{n}" for n in range(9)]])
def test_what_cannot_be_composed_is_refused(using, also):
    everybody = using("reader", "*")

    assert everybody("GET", f"{THREAD}/context", params={"also": also}).status_code == 422
