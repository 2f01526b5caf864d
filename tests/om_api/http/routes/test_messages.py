"""Messages over HTTP: what is added is there once, whatever it says of itself."""

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


def test_what_is_added_is_in_the_context_and_a_repetition_adds_nothing(say, ask):
    first, again = say("m-1", "m-2"), say("m-1", "m-2")

    assert first.json() == {"ids": ["m-1", "m-2"], "added": 2, "duplicates": []}
    assert again.json() == {"ids": ["m-1", "m-2"], "added": 0, "duplicates": ["m-1", "m-2"]}
    found = ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()
    assert [message["content"] for message in found["context"]][:2] == ["about m-1", "about m-2"]


def test_a_message_without_an_id_is_given_one(ask):
    given = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
    (name,) = ask("POST", f"{THREAD}/messages", json=given).json()["ids"]

    assert "hello" in ask("GET", f"{THREAD}/context").json()["context"]
    assert len(name) > 20


def test_a_message_may_say_that_it_takes_no_tokens(say, world):
    say("m-1", tokens=0)

    assert [message.tokens for message in world.context().messages] == [0]
