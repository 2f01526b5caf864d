"""A resource and its threads over HTTP: what the library says of them, and that what is removed is gone."""

HAROLD = "/v1/resources/harold"


def test_statistics_record_and_settings_are_the_librarys(full, ask):
    assert ask("GET", f"{HAROLD}/stats").json()["observations"] == full.om.stats("harold").observations
    assert ask("GET", f"{HAROLD}/record").json()["generation"] == 1
    settings = {each["key"]: each["value"] for each in ask("GET", f"{HAROLD}/settings").json()}
    assert settings["message_threshold"] == 1000


def test_what_is_removed_is_gone(full, ask, walk):
    name = full.om.observations("harold")[0].id

    assert ask("DELETE", f"{HAROLD}/observations/{name}").json() == {"outcome": "cleared"}
    assert ask("DELETE", f"{HAROLD}/threads/t-2").json()["outcome"] == "cleared"
    assert [thread["id"] for thread in walk(f"{HAROLD}/threads")] == ["t-1"]
    assert ask("DELETE", HAROLD, params={"confirm": "harold"}).json()["outcome"] == "cleared"
    assert list(full.client.scan_iter(f"{full.prefix}:{{harold}}:*")) == []


def test_threads_come_by_name_with_what_is_not_yet_observed(say, walk):
    say("m-1", thread="t-2")
    say("m-2", "m-3", thread="t-1")

    found = [(each["id"], each["messages"], each["tokens"]) for each in walk(f"{HAROLD}/threads", limit=1)]
    assert found == [("t-1", 2, 200), ("t-2", 1, 100)]


def test_a_thread_that_is_ended_says_what_went_and_leaves_the_others(say, ask, walk, world):
    say("m-1", "m-2", thread="t-1")
    say("m-3", thread="t-2")
    ended = ask("DELETE", f"{HAROLD}/threads/t-1").json()

    assert ended == {"outcome": "cleared", "messages": 2, "observations": 0, "merged": []}
    assert [each["id"] for each in walk(f"{HAROLD}/threads")] == ["t-2"]
    assert world.covering() == ["m-3"]
