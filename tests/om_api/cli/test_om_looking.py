"""`om stats`, `threads`, `observations`, `history`, `sources`: looking changes nothing and shows every tier."""

from __future__ import annotations

import pytest
from world import contents

LOOKS = [("stats",), ("stats", "harold"), ("threads", "harold"), ("observations", "harold"), ("history", "harold")]


@pytest.mark.parametrize("look", [*LOOKS[1:], ("context", "harold", "t-1")], ids=" ".join)
def test_a_resource_that_nobody_knows_is_said_not_to_be(om, observed, look):
    typo = [word.replace("harold", "harlod") for word in look]
    result = om(*typo)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert "harlod is not known here" in result.stderr
    assert om(*look).exit_code == 0


def test_looking_at_an_empty_store_is_no_error(om):
    assert om("stats").exit_code == 0


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_a_resource_that_has_only_begun_is_known(om, world, look):
    world.say("hello")

    assert om(*look).exit_code == 0


def test_a_message_that_nobody_adopted_yet_is_known(om, client, prefix):
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {'{"id":"m-1","role":"user","content":"hi"}': 1763600000000})

    assert om("context", "harold", "t-1").exit_code == 0


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_looking_changes_nothing(om, reflected, client, prefix, look):
    before = contents(client, f"{prefix}*")
    om(*look)

    assert contents(client, f"{prefix}*") == before


def test_the_stats_of_a_resource_are_its_tiers(om_json, om, observed):
    stats = om_json("stats", "harold")

    assert stats["resource"] == "harold"
    assert stats["observations"] == len(observed.om.observations("harold")) > 0
    assert stats["message_tokens"] + stats["chunk_tokens"] + stats["observed_tokens"] == 1200
    assert "observation tokens" in om("stats", "harold").stdout


def test_the_stats_of_all_are_a_list(om_json, om, observed):
    observed.om.pause("someone-else")

    assert [stats["resource"] for stats in om_json("stats")] == ["harold"]
    assert "harold" in om("stats").stdout


def test_a_scope_that_is_not_the_configured_one_is_said(om, observed, monkeypatch):
    monkeypatch.setenv("OM_SCOPE", "thread")

    assert "om migrate-scope harold --to thread" in om("stats", "harold").stderr


def test_threads_say_what_is_not_yet_observed(om_json, om, world):
    world.say("one", "two", thread="t-1")
    world.say("three", thread="t-2")

    assert [(each["id"], each["messages"]) for each in om_json("threads", "harold")] == [("t-1", 2), ("t-2", 1)]
    assert "t-2" in om("threads", "harold").stdout


def test_observations_are_listed_with_their_threads(om_json, om, observed):
    found = om_json("observations", "harold")

    assert [each["id"] for each in found] == [each.id for each in observed.om.observations("harold")]
    assert om_json("observations", "harold", "t-2") == []
    assert found[0]["id"] in om("observations", "harold").stdout


def test_the_texts_of_observations_can_be_read(om, observed):
    text = om("observations", "harold", "t-1", "--text").stdout

    assert text.startswith("== observation ")
    assert observed.om.observations("harold")[0].text in text


def test_the_history_says_what_each_generation_replaced(om_json, om, reflected):
    [generation] = om_json("history", "harold")

    assert (generation["n"], generation["origin"]) == (1, "reflection")
    assert [each["id"] for each in generation["replaced"]] == generation["observation_ids"] != []
    assert f" {len(generation['replaced'])} " in om("history", "harold").stdout.splitlines()[-2] + " "


def test_the_texts_of_generations_can_be_read(om, reflected):
    text = om("history", "harold", "--text").stdout

    assert text == f"== generation 1 ==\n{reflected.om.generations('harold')[0].text}\n"


def test_sources_are_the_messages_behind_an_observation(om_json, om, observed):
    first = observed.om.observations("harold")[0]
    found = om_json("sources", "harold", first.id)

    assert [message["id"] for message in found] == list(first.message_ids)
    assert "at" not in found[0]
    assert "message 0" in om("sources", "harold", first.id).stdout


def test_sources_name_their_thread_after_a_reflection_too(om, om_json, reflected):
    (name, *_) = reflected.om.generations("harold")[0].observation_ids

    assert {message["thread_id"] for message in om_json("sources", "harold", name)} == {"t-1"}
    assert " t-1 " in om("sources", "harold", name).stdout


def test_sources_that_are_gone_are_said_to_be(om):
    result = om("sources", "harold", "o-1")

    assert result.exit_code == 0
    assert "have expired, or harold never had" in result.stderr


def test_no_control_character_of_a_message_reaches_a_table(om, world):
    world.say("\x1b[2Jgone\x07\u2028", *[f"message {n}" for n in range(12)])
    world.settle()
    output = om("sources", "harold", world.om.observations("harold")[0].id).stdout

    assert "\\x1b[2Jgone\\x07\\u2028" in output
    assert not {"\x1b", "\u2028"} & set(output)


SPOILS = {
    "of another type": lambda client, own: (client.delete(own + ":rejected"), client.set(own + ":rejected", "oops")),
    "a name that is no text": lambda client, own: client.zadd(own + ":threads", {b"\xff": 1}),
    "a count that is none": lambda client, own: client.hset(own + ":tokens", "#t-1", "abc"),
    "a count beyond all numbers": lambda client, own: client.hset(own + ":tokens", "#t-1", "9" * 5000),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_the_stats_of_all_name_one_that_is_broken_and_show_every_other(om, world, client, prefix, spoil):
    """Catches a writer whose key of another type, or with other bytes, ended `om stats` for everybody."""
    for name in ("ada", "harold", "zoe"):
        world.say("hello", resource=name)
        client.zadd(world.shop.keys.resources, {name: 1})
    SPOILS[spoil](client, f"{prefix}:{{harold}}")
    result = om("stats")

    assert result.exit_code == 0
    assert [name for name in ("ada", "harold", "zoe") if name in result.stdout] == ["ada", "zoe"]
    assert "broken: harold" in result.stderr
