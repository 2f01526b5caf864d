"""`om restore`: how a reflection is undone, and how that is."""

from __future__ import annotations

import pytest


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


@pytest.mark.parametrize(("generation", "said"), [("7", "has no generation 7"), ("-1", "-1"), ("first", "first")])
def test_what_is_no_generation_is_refused(om, reflected, generation, said):
    result = om("restore", "harold", "--", generation)

    assert result.exit_code == 2
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
