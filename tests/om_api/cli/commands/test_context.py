"""`om context`: what an agent's model would read, in the form of any provider."""

import json

import pytest


@pytest.mark.parametrize(
    ("form", "keys"),
    [("anthropic", {"system", "messages"}), ("gemini", {"system_instruction", "contents"})],
)
def test_a_context_can_be_had_as_the_request_of_a_provider(om, observed, form, keys):
    assert json.loads(om("context", "harold", "t-1", "--format", form).stdout).keys() == keys


def test_a_context_can_be_had_as_openai_messages(om, observed):
    messages = json.loads(om("context", "harold", "t-1", "--format", "openai").stdout)

    assert messages[0]["role"] == "system"
    assert "message 0" in messages[0]["content"]


def test_a_context_can_be_had_as_blocks(om, observed):
    blocks = json.loads(om("context", "harold", "t-1", "--format", "blocks").stdout)

    assert {"kind", "role", "text", "stable", "tokens", "hash", "id", "resource_id"} == blocks[0].keys()
    assert {"observations", "message", "volatile"} <= {block["kind"] for block in blocks}


def test_what_max_tokens_leaves_out_is_said_beside_the_context(om, world):
    world.say("the old one", "the new one", tokens=500)
    result = om("context", "harold", "t-1", "--max-tokens", "700")

    assert "the old one" not in result.stdout
    assert result.stderr == "older messages left out of this view: 1; the memory keeps them\n"


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
