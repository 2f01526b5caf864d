"""What of a thread is raw, over HTTP: unsealed and sealed, of that thread alone, and shown as its context shows it."""

MESSAGES = "/v1/resources/harold/threads/t-1/messages"


def test_what_was_added_can_be_read_back(say, ask):
    say("m-1", metadata={"lang": "en"})
    page = ask("GET", MESSAGES).json()

    assert page["next"] is None
    (found,) = page["items"]
    assert (found["id"], found["role"], found["content"], found["tokens"]) == ("m-1", "user", "about m-1", 100)
    assert found["metadata"] == {"lang": "en"}
    assert found["at"] > 0


def test_what_is_raw_is_what_the_context_shows_and_the_rest_is_behind_observations(full, walk, ask):
    found = [message["id"] for message in walk(MESSAGES)]
    blocks = ask("GET", "/v1/resources/harold/threads/t-1/context").json()["context"]
    kept = [
        message["id"]
        for observation in walk("/v1/resources/harold/observations", thread_id="t-1")
        for message in walk(f"/v1/resources/harold/observations/{observation['id']}/messages")
    ]

    assert found
    assert found == [f"a-{n}" for n in range(20 - len(found), 20)]
    assert all(f"about {name}" in blocks for name in found)
    assert not {*found} & {*kept}


def test_sealed_messages_are_still_raw(say, ask, walk, world):
    say(*[f"m-{n}" for n in range(4)])
    world.settle()

    assert ask("GET", "/v1/resources/harold/stats").json()["ready_chunks"] > 0
    assert [message["id"] for message in walk(MESSAGES)] == [f"m-{n}" for n in range(4)]


def test_chunks_are_told_with_what_they_hold_until_they_are_activated(say, ask, walk, world):
    say(*[f"m-{n}" for n in range(4)])
    world.settle()
    found = walk(f"{MESSAGES.removesuffix('messages')}chunks")

    assert sum(chunk["messages"] for chunk in found) == 4
    assert {(chunk["thread_id"], chunk["ready"]) for chunk in found} == {("t-1", True)}
    assert all(chunk["tokens"] > 0 and "observation" not in chunk for chunk in found)

    ask("POST", "/v1/resources/harold/observe", json={})
    world.settle()
    assert walk(f"{MESSAGES.removesuffix('messages')}chunks") == []


def test_a_cursor_names_a_message_so_that_those_that_come_meanwhile_shift_nothing(say, ask):
    say("m-1", timestamp=1_763_600_001_000)
    say("m-3", timestamp=1_763_600_003_000)
    first = ask("GET", MESSAGES, params={"limit": 1}).json()
    say("m-0", timestamp=1_763_600_000_000)
    say("m-2", timestamp=1_763_600_002_000)
    rest = ask("GET", MESSAGES, params={"cursor": first["next"]}).json()

    assert [[message["id"] for message in page["items"]] for page in (first, rest)] == [["m-1"], ["m-2", "m-3"]]


def test_of_another_thread_nothing_is_shown_and_an_unknown_one_has_nothing(say, walk):
    say("m-1", thread="t-2")

    assert walk(MESSAGES) == []
