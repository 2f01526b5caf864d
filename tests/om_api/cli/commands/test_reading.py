"""Commands that read a memory."""

import json

import pytest
from world import World, contents


def test_a_context_can_be_had_as_the_request_of_a_provider(om, observed):
    for form, keys in [("anthropic", {"system", "messages"}), ("gemini", {"system_instruction", "contents"})]:
        assert json.loads(om("context", "harold", "t-1", "--format", form).stdout).keys() == keys, (form, keys)


def test_the_notes_of_other_resources_are_shown_and_those_left_out_told(om, world):
    world.say("the vault is blue", resource="albert")
    world.om.force_observe("t-1", "albert")
    world.settle()
    world.say("hello")
    shown = om("context", "harold", "t-1", "--also", "albert", "--json")
    found = om("recall", "harold", "vault", "--also", "albert")
    assert list(json.loads(shown.stdout)["composed"]) == ["albert"]
    assert "the vault is blue" in json.loads(shown.stdout)["context"]
    assert "  albert  t-1  user  " in found.stdout
    assert om("context", "harold", "t-1", "--also", "harold").exit_code == 2


def test_chunks_are_listed_until_they_are_activated(om_json, om, world):
    world.say(*[f"message {n}" for n in range(4)])
    world.say(*[f"message {n}" for n in range(4)], thread="t-2")
    world.settle()
    found, kept = om_json("chunks", "harold"), world.om.chunks("harold")
    assert [(each["id"], each["thread_id"], each["messages"]) for each in found] == [
        (each.id, each.thread, each.messages) for each in kept
    ]
    assert {each["thread_id"] for each in found} == {"t-1", "t-2"}
    assert {each["thread_id"] for each in om_json("chunks", "harold", "t-2")} == {"t-2"}
    assert om("chunks", "harold").stdout.count("ready") == len(found)
    assert "observation" not in found[0]
    world.om.force_observe(resource_id="harold")
    world.settle()
    assert om_json("chunks", "harold") == []
    assert om("chunks", "nobody").exit_code == 1


def test_the_history_and_the_sources_lead_back_to_the_messages(om_json, om, reflected):
    [generation] = om_json("history", "harold")
    assert (generation["n"], generation["origin"]) == (1, "reflection")
    assert [each["id"] for each in generation["replaced"]] == generation["observation_ids"] != []
    assert om("history", "harold", "--text").stdout == f"== generation 1 ==\n{generation['text']}\n"
    (name, *_) = generation["observation_ids"]
    found = om_json("sources", "harold", name)
    assert [each["id"] for each in found] == generation["replaced"][0]["message_ids"]
    assert {each["thread_id"] for each in found} == {"t-1"}
    assert "message 0" in om("sources", "harold", name).stdout
    assert "have expired, or harold never had" in om("sources", "harold", "o-1").stderr


def test_groups_are_listed_and_printed(om_json, om, world):
    world.om.add_line("the harbour opens at nine", "harold", "t-1")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    (group,) = om_json("groups", "harold")
    assert "the harbour opens at nine" in group["heading"]
    assert group["id"] in om("groups", "harold").stdout
    assert om("groups", "harold", group["id"]).stdout.endswith("the harbour opens at nine\n")
    assert om_json("groups", "harold", "1999") == []
    assert om_json("groups", "harold", "--thread", "t-2") == []
    assert om("groups", "harold", "aaaaaaaa").exit_code == 1
    assert "a month such as 2026-03" in om("groups", "harold", "x y").stderr
    assert om("groups", "nobody").exit_code == 1


SAID = ("Which passport?", "My passport number is X1234567.", "It lies in the blue drawer.")


@pytest.fixture
def noted(world):
    """Harold's memory, in which what was said first is behind an observation; ids in order."""
    ids = world.say(*SAID, *[f"turn {n}" for n in range(12)])
    world.settle()
    assert world.om.observations("harold")
    return ids


def test_what_was_said_is_found_with_its_surroundings_and_what_covers_it(om, world, noted):
    result = om("recall", "harold", "passport number")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].endswith(f"  t-1  user  {noted[1]}")
    assert lines[1:5] == [f"    in the notes as observation {world.om.observations('harold')[0].id}",
                          "    user: Which passport?", "  > user: My «passport number» is X1234567.",
                          "    user: It lies in the blue drawer."]  # fmt: skip


def test_what_is_searched_can_be_limited(om_json, world, noted):
    world.say("Another passport.", thread="t-2", timestamp="2020-01-01T00:00:00Z")
    assert [hit["thread_id"] for hit in om_json("recall", "harold", "passport", "--thread", "t-2")["hits"]] == ["t-2"]
    assert om_json("recall", "harold", "passport", "--role", "assistant")["hits"] == []
    assert len(om_json("recall", "harold", "passport", "--before", "2021-01-01")["hits"]) == 1
    assert len(om_json("recall", "harold", "passport", "--after", "2021-01-01")["hits"]) == 2
    kinds = om_json("recall", "harold", "passport", "--kind", "observation", "--kind", "generation")["hits"]
    assert {hit["kind"] for hit in kinds} == {"observation"}
    (hit,) = om_json("recall", "harold", "drawer", "--around", "0")["hits"]
    assert (hit["before"], hit["after"]) == ([], [])


def test_browsing_shows_the_turns_around_a_message_and_how_to_go_on(om, noted):
    result = om("browse", "harold", noted[4], "--before", "1", "--after", "1")
    lines = result.stdout.splitlines()
    assert [line.split()[-1] for line in lines[::2]] == noted[3:6]
    assert lines[2].startswith("> ")
    assert lines[1::2] == ["    turn 0", "    turn 1", "    turn 2"]
    assert f"earlier: om browse harold {noted[3]} --after 0" in result.stderr
    assert f"later: om browse harold {noted[5]} --before 0" in result.stderr


def test_names_that_nobody_knows_and_what_cannot_be_asked_are_told(om, noted):
    """A resource that is not there is an error, a thread is none: it may have been cleared."""
    for words, code, says in (
        (("recall", "harld", "passport"), 1, "did you mean harold?"),
        (("recall", "harold", "zebra", "--thread", "t-11"), 0, "no thread t-11 of harold is known: did you mean t-1?"),
        (("recall", "harold", "zebra thread:t-11"), 0, "no thread t-11 of harold is known: did you mean t-1?"),
        (("recall", "harold", "zebra"), 0, "nothing that is kept holds these words: try others, or fewer"),
        (("recall", "harold", "passport", "--after", "soon"), 2, "after is 'soon'"),
        (("recall", "harold", "passport role:robot"), 2, "role:robot is none"),
        (("browse", "harold", "m-9"), 1, "harold keeps no message m-9: it was removed"),
    ):
        result = om(*words)
        assert (result.exit_code, says in result.stderr) == (code, True), (words, result.stderr)


LOOKS = [("stats",), ("stats", "harold"), ("threads", "harold"), ("observations", "harold"), ("history", "harold")]


def test_looking_changes_nothing(om, reflected, client, prefix):
    for look in LOOKS:
        before = contents(client, f"{prefix}*")
        om(*look)
        assert contents(client, f"{prefix}*") == before, look


def test_the_stats_of_a_resource_are_its_tiers_and_say_where_its_scope_is_another(om_json, om, observed, monkeypatch):
    stats = om_json("stats", "harold")
    assert stats["observations"] == len(observed.om.observations("harold")) > 0
    assert stats["message_tokens"] + stats["chunk_tokens"] + stats["observed_tokens"] == 1200
    monkeypatch.setenv("OM_SCOPE", "thread")
    assert "om migrate-scope harold --to thread" in om("stats", "harold").stderr


def test_the_stats_of_all_name_one_that_is_broken_and_show_every_other(om, world, client, prefix):
    """Catches a writer whose key of another type, or with other bytes, ended `om stats` for everybody."""
    for name in ("ada", "harold", "zoe"):
        world.say("hello", resource=name)
        client.zadd(world.services.keys.resources, {name: 1})
    client.hset(f"{prefix}:{{harold}}:tokens", "#t-1", "9" * 5000)
    result = om("stats")
    assert result.exit_code == 0
    assert [name for name in ("ada", "harold", "zoe") if name in result.stdout] == ["ada", "zoe"]
    assert "broken: harold" in result.stderr


def test_a_sound_store_is_exit_code_0_and_a_broken_one_1_with_its_place(om, om_json, reflected, client, prefix):
    result = om("verify")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no breach; looked at 1 resource with 12 messages\n"
    assert om_json("verify") == []
    reflected.say(*[f"message {n}" for n in range(12, 16)])
    key = f"{prefix}:{{harold}}:messages:t-1"
    assert client.unlink(key) == 1  # lost behind our back
    result = om("verify")
    assert (result.exit_code, key in result.stdout) == (1, True)
    assert "breaches: 1; looked at 1 resource with 12 messages" in result.stderr
    assert {"where", "what"} == json.loads(om("verify", "--json").stdout)[0].keys()


def test_with_repair_the_next_sweep_makes_it_anew(om, reflected, client, prefix):
    reflected.sweep()
    key, *_ = client.scan_iter(f"{prefix}:{{harold}}:segment:*")
    whole = client.get(key)
    client.set(key, b"garbage", keepttl=True)
    result = om("verify", "--repair")
    reflected.sweep()
    assert "1 segment of recall's index removed: the next sweep makes what is lacking" in result.stderr
    assert (client.get(key), om("verify").exit_code) == (whole, 0)
