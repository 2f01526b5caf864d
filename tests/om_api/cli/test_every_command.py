"""What holds of every command alike, found by walking the group: a program can read each one's answer."""

import json

import click
import pytest

from om_api.cli import main
from om_api.domain.audit.audit_entry import DID

WITHOUT_JSON = {  # and why
    ("up",),  # runs until it is told to stop
    ("demo",),  # shows three conversations as they go on
    ("api",),  # serves until it is told to stop
    ("ui",),  # opens a browser, and prints the one address
    ("mcp",),  # speaks a protocol of its own on stdout
    ("bench",),  # hands everything on to om_bench, whose reports are files of JSON
}


def leaves(group, path=()):
    """Every command with what is typed to reach it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(leaves(main))


@pytest.mark.parametrize("path", sorted(COMMANDS.keys() - WITHOUT_JSON), ids=" ".join)
def test_every_command_has_json(path):
    assert any("--json" in option.opts for option in COMMANDS[path].params)


ANSWERS = {  # of a memory with observations and a generation, in this order
    "stats": ("harold",),
    "threads": ("harold",),
    "chunks": ("harold",),
    "observations": ("harold",),
    "history": ("harold",),
    "costs": ("harold",),
    "context": ("harold", "t-1"),
    "recall": ("harold", "message"),
    "browse": ("harold", "m-0"),
    "top": (),
    "queues": (),
    "verify": (),
    "rejected list": ("harold",),
    "rejected retry": ("harold", "--all"),
    "rejected drop": ("harold", "--all"),
    "config": (),
    "config show": (),
    "models list": (),
    "models try": ("gemini-2.5-flash", "--wait", "0"),
    "config check": (),
    "keys list": (),
    "acl": ("harold",),
    "push": ("harold", "t-1", "hello"),
    "observe": ("harold", "--wait", "0"),
    "reflect": ("harold", "--wait", "0"),
    "pause": ("harold",),
    "resume": ("harold",),
    "migrate-scope": ("harold", "--to", "resource"),
    "pins": ("harold",),
    "line add": ("harold", "t-1", "User never flies"),
    "line correct": ("harold", "User never flies", "User never sails"),
    "pin": ("harold", "User never sails"),
    "unpin": ("harold", "User never sails"),
    "restore": ("harold", "0"),
    "clear": ("harold", "--yes"),
}


def test_what_it_prints_is_json_and_nothing_else(om, reflected):
    reflected.say("message 0", id="m-0")
    for words, args in ANSWERS.items():
        result = om(*words.split(), *args, "--json")

        assert result.exit_code == 0, (words, result.output)
        assert json.loads(result.stdout) is not None, words


#: what the audit trail does not tell of, and why
NOT_TOLD = {
    *(
        "stats",
        "threads",
        "chunks",
        "observations",
        "history",
        "groups",
        "extracted",
        "working-memory show",
        "working-memory versions",
        "sources",
        "recall",
        "browse",
        "context",
        "top",
    ),  # they look
    *("rejected list", "rejected show", "costs", "events", "audit", "queues", "doctor", "keys list"),
    *("pins", "review list", "review show"),
    *("config", "config show", "config check", "webhooks list", "webhooks dead", "models list", "archive status"),
    *("push", "replay"),  # what an agent sends
    *("thread show", "thread aliases", "hooks list", "hooks try"),  # the last asks, of what is nobody's
    *("up", "demo", "bench"),  # they begin processes, and the latter have a store of their own
    *("api", "mcp", "ui"),  # what is asked of them is told by them
}


@pytest.mark.parametrize("path", sorted(COMMANDS), ids=" ".join)
def test_every_command_that_operates_is_told_to_the_audit_trail(path):
    did = getattr(COMMANDS[path], "audited", "")

    assert did in {"", *DID}
    assert bool(did) != (" ".join(path) in NOT_TOLD)


def test_a_context_as_json_says_what_was_left_out(om_json, observed):
    found = om_json("context", "harold", "t-1", "--format", "openai")

    assert found.keys() == {"format", "context", "tokens", "omitted", "composed", "left_out"}
    assert found["context"][0]["role"]


def test_json_of_the_configuration_stands_behind_its_sub_command(bare):
    refused = bare("config", "--json", "show")

    assert refused.exit_code == 2
    assert "om config show --json" in refused.stderr


LOOKS = [
    *(
        "stats",
        "stats harold",
        "top --once",
        "threads harold",
        "observations harold",
        "history harold",
        "costs",
        "pins harold",
    ),
    *(
        "costs harold",
        "config show",
        "rejected list",
        "rejected list broken",
        "events",
        "queues",
        "doctor",
        "acl --list",
    ),
]


@pytest.mark.parametrize("columns", ["50", "80", "100"])
def test_what_is_shown_fits_and_breaks_no_id(om, reflected, client, prefix, monkeypatch, columns):
    """Catches tables that a narrow terminal made unreadable: cells of one letter a line, ids that nobody can copy."""
    long = "customer-support-eu-west-1"
    reflected.say(*[f"message {n}" for n in range(12)], resource=long, thread="conversation-2026-11-20T09:30")
    client.zadd(f"{prefix}:{{broken}}:messages:t-1", {b"broken": 1_763_600_000_000})
    reflected.sweep()
    reflected.settle()
    shown = {look: _shown(om, monkeypatch, look, columns) for look in LOOKS}

    too_wide = {look: line for look, text in shown.items() for line in text if len(line) > int(columns)}
    assert {look: line for look, line in too_wide.items() if " " in line.strip()} == {}
    words = {look: {word for line in text for word in line.split()} for look, text in shown.items()}
    assert long in words["stats"] & words["top --once"]
    assert {each.id for each in reflected.om.observations("harold")} <= words["observations harold"]
    assert {each.id for each in reflected.om.rejected("broken")} <= words["rejected list broken"]


def _shown(om, monkeypatch, look, columns):
    monkeypatch.setenv("COLUMNS", columns)
    return om(*look.split()).stdout.splitlines()
