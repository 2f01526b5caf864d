"""What an owner does: nothing goes without a yes, a reflection is undone, a memory moves, and comes back from a file."""

import json

import pytest

from om_workers.llm.scripted import Scripted


def test_a_memory_is_cleared_after_a_yes(om, observed, client, prefix):
    result = om("clear", "harold", stdin="y\n")

    assert result.exit_code == 0
    assert result.stdout.startswith("cleared: ")
    assert "Remove the whole memory of harold? This cannot be undone." in result.stderr
    assert observed.covering() == []


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
@pytest.mark.parametrize("command", [("clear", "harold"), ("clear", "harold", "t-1"), ("forget", "harold", "o-1")])
def test_nothing_is_removed_without_a_yes(om, observed, command, answer):
    before = observed.covering()
    result = om(*command, stdin=answer)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "nothing was removed" in result.stderr
    assert observed.covering() == before


def test_a_thread_is_cleared_and_the_others_stay(om_json, world):
    world.say("one", "two", thread="t-1")
    kept = world.say("three", thread="t-2")
    done = om_json("clear", "harold", "t-1", "--yes")

    assert done == {"outcome": "cleared", "messages": 2, "observations": 0, "merged": []}
    assert world.covering() == kept


def test_what_a_reflection_has_merged_is_named(om, observed):
    observed.model = Scripted("<observations>\n* what the threads have in common\n</observations>")
    observed.om.force_reflect("harold")
    observed.settle()
    replaced = observed.om.generations("harold")[0].observation_ids
    result = om("clear", "harold", "t-1", "--yes")

    assert f"a reflection still holds what it made of: {', '.join(replaced)}" in result.stderr


def test_an_observation_is_forgotten_with_its_messages(om, observed):
    first, *rest = observed.om.observations("harold")

    assert om("forget", "harold", first.id, "--yes").stdout == "cleared\n"
    assert observed.om.observations("harold") == rest


def test_an_observation_that_is_not_there_cannot_be_forgotten(om, observed):
    result = om("forget", "harold", "o-1", "--yes")

    assert result.exit_code == 1
    assert "harold has no observation o-1" in result.stderr


def test_a_reflection_is_undone(om, reflected):
    before = reflected.covering()
    replaced = [each.id for era in reflected.om.history("harold") for each in era.replaced]

    assert om("restore", "harold", "0").stdout == "restored\n"
    assert [each.id for each in reflected.om.observations("harold")][: len(replaced)] == replaced
    assert reflected.covering() == before
    assert "restore of 0" in om("history", "harold").stdout


def test_an_undo_is_undone(om, reflected):
    text = reflected.om.generations("harold")[0].text
    om("restore", "harold", "0")

    assert om("restore", "harold", "1").stdout == "restored\n"
    assert reflected.context().text.count(text) == 1


def test_what_is_in_force_rests(om, reflected):
    assert om("restore", "harold", "1").stdout == "rest\n"


@pytest.mark.parametrize(
    ("generation", "code", "said"), [("7", 1, "has no generation 7"), ("-1", 2, "-1"), ("first", 2, "first")]
)
def test_what_is_no_generation_is_refused(om, reflected, generation, code, said):
    result = om("restore", "harold", "--", generation)

    assert result.exit_code == code
    assert said in result.stderr


def test_what_will_be_condensed_again_is_said(om, reflected, client, prefix):
    client.hincrby(f"{prefix}:{{harold}}:record", "observation_tokens", 4000)

    assert "run om pause harold" in om("restore", "harold", "0").stderr


def test_nothing_is_restored_for_an_agent_that_only_reads(om, reflected, monkeypatch):
    monkeypatch.setenv("OM_READ_ONLY", "true")

    assert "read_only" in om("restore", "harold", "0").stderr


def test_in_thread_scope_a_thread_must_be_named(om, reflected):
    om("migrate-scope", "harold", "--to", "thread")

    assert "name a thread_id" in om("restore", "harold", "0").stderr
    assert "moved to another scope" in om("restore", "harold", "0", "t-1").stderr


def test_a_memory_moves_to_its_threads_and_back(om, om_json, observed):
    before = observed.covering()

    assert om("migrate-scope", "harold", "--to", "thread").stdout == "activated\n"
    assert om_json("stats", "harold")["scope"] == "thread"
    assert om("migrate-scope", "harold", "--to", "resource").stdout == "activated\n"
    assert observed.covering() == before


def test_a_memory_that_is_where_it_should_be_rests(om, observed):
    assert om("migrate-scope", "harold", "--to", "resource").stdout == "rest\n"


def test_a_move_off_the_configuration_says_so(om, observed):
    assert "still says scope: resource" in om("migrate-scope", "harold", "--to", "thread").stderr


def test_a_move_is_tried_until_the_time_is_over(om, world):
    world.say(*[f"message {n}" for n in range(12)])
    world.claim()
    verb, ids = world.dispatch.queue.popleft()
    world.perform(verb, *ids)
    result = om("migrate-scope", "harold", "--to", "thread", "--wait", "0.1")

    assert (result.exit_code, result.stdout) == (0, "busy\n")
    assert "nothing has changed" in result.stderr


def test_a_memory_comes_back_from_a_file_as_it_was(om, reflected):
    before = reflected.context().text
    file = om("export", "harold").stdout_bytes
    om("clear", "harold", "--yes")

    done = om("import", stdin=file)
    assert done.exit_code == 0
    assert done.stdout.startswith("harold: 1 threads, ")
    assert reflected.context().text == before


def test_a_memory_is_copied_for_another_agent(om, om_json, observed):
    file = om("export", "harold").stdout_bytes

    assert om_json("import", "--as", "albert", stdin=file)["resource"] == "albert"
    assert observed.context(resource="albert").text == observed.context().text


def test_the_file_is_json_lines(om, observed):
    lines = [json.loads(line) for line in om("export", "harold").stdout.splitlines()]

    assert (lines[0]["kind"], lines[0]["resource"], lines[-1]["kind"]) == ("memory", "harold", "end")
    assert {"record", "thread", "observation", "source", "message"} <= {line["kind"] for line in lines}


def test_nothing_is_imported_over_a_memory(om, observed):
    refused = om("import", stdin=om("export", "harold").stdout_bytes)

    assert refused.exit_code == 2
    assert "harold holds a memory already" in refused.stderr


def test_what_is_no_exported_memory_is_refused_with_its_line(om):
    assert "line 1: this is no line of an exported memory" in om("import", stdin="hello").stderr
    assert "not a single line" in om("import", stdin="").stderr


def test_nobody_is_exported_whom_nobody_knows(om):
    result = om("export", "harlod")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "harlod is not known here" in result.stderr
