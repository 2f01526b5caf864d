"""What every command has in common: its group, its target, its tables and its JSON."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import started
from rich.console import Console

from om_api.cli import main
from om_api.cli.group import PLACES
from om_api.cli.tables import Rows
from om_api.domain.audit.audit_entry import DID


def test_no_control_character_of_a_message_reaches_a_table(om, world):
    world.say("\x1b[2Jgone\x07\u2028", *[f"message {n}" for n in range(12)])
    world.settle()
    output = om("sources", "harold", world.om.observations("harold")[0].id).stdout
    assert "\\x1b[2Jgone\\x07\\u2028" in output
    assert not {"\x1b", "\u2028"} & set(output)


def shown(rows, width):
    found, left_out = rows.fitted(width)
    if isinstance(found, str):
        return found.split("\n"), left_out
    console = Console(width=width, record=True, markup=False, highlight=False)
    with console.capture() as printed:
        console.print(found)
    return printed.get().rstrip("\n").split("\n"), left_out


WORDS = st.text("abcxyz-0123456789", min_size=1, max_size=30)
CELLS = st.one_of(WORDS, st.lists(WORDS, max_size=12).map(" ".join), st.just("-"))


@given(st.integers(20, 120), st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4))
def test_whatever_stands_in_it_fits_and_no_word_is_broken(width, cells):
    rows = Rows(("id", "tokens in", "what it says"), cells, least=("tokens in",))
    lines, left_out = shown(rows, width)
    printed = {word for line in lines for word in line.split()}
    kept = [row[:1] + row[2:] if left_out else row for row in cells]
    assert max(map(len, lines)) <= max(width, 16 + 30)  # a block whose one word has no room
    assert {word for row in kept for cell in row for word in cell.split()} <= printed


NOWHERE = "redis://:s3cret@127.0.0.1:1/0"


def test_wrong_input_is_one_line_and_exit_code_2_before_the_store_is_asked(bare):
    for args in (
        *(("stats", "ha*rold"), ("threads", ".."), ("clear", "harold", "", "--yes"), ("push", "harold", "", "hi")),
        *(("push", "harold", "t-1", text) for text in ("", " \n")),
        *(("push", "harold", "t-1", "hi", *more) for more in (("--id", "a b"), ("--timestamp", "soon"))),
    ):
        result = bare("--url", NOWHERE, *args)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), args
        assert result.stderr.startswith("Error: "), args


def test_no_password_of_an_address_is_ever_printed(bare):
    for url in (*("http://user:s3cret@example.org", "redis://user:s3cret@example.org:port/0", NOWHERE),
                *("redis://:s3/cret#s3cret@example.org", "rediss+sentinel://:s3cret@127.0.0.1:1/0")):  # fmt: skip
        for command in ("stats", "config", "verify"):
            output = bare("--url", url, command).output
            assert "cret" not in output.replace('"secret"', ""), (url, command)  # a kind of what is redacted


def test_a_thread_that_is_named_before_its_resource_is_said_to_be_and_one_that_nobody_adopted_known(om, client, prefix):
    client.zadd(f"{prefix}:{{harold}}:messages:t-1", {'{"id":"m-1","role":"user","content":"hi"}': 1763600000000})
    assert om("context", "harold", "t-1").exit_code == 0
    om("push", "harold", "t-1", "hello")
    for command in ("context", "observe", "reflect"):
        result = om(command, "t-1", "harold")
        assert result.exit_code == 1, command
        assert "is a thread of harold: name the resource first, harold t-1" in result.stderr, command


@pytest.fixture
def broken(here):
    (here / "config").mkdir()
    (here / "config" / "observational-memory.yaml").write_text(
        "observational_memory:\n  ttl_days: never\n  min_recent_messages: 3\n"
    )
    return here


def test_a_broken_base_file_is_said_once_and_stops_nobody_who_looks_or_pushes(om, world, broken):
    """Catches an operator who can look at nothing, and an agent's hook that keeps nothing, for a typing error."""
    world.say("hello")
    for words in ("stats", "doctor", "push harold t-1 hello", "threads harold"):
        result = om(*words.split())
        (said,) = [line for line in result.stderr.splitlines() if "observational-memory.yaml" in line]
        assert result.exit_code == (1 if words == "doctor" else 0), words
        assert said.startswith("config/observational-memory.yaml: line 2: ttl_days is"), words
        assert "going on with what of it can be used" in said, words


def test_who_changes_more_or_serves_wants_settings_that_are_whole(bare, broken):
    for words in ("clear harold --yes", "up", "observe harold", "keys list"):
        result = bare(*words.split())
        assert result.exit_code == 2, words
        assert result.stderr.startswith("Error: config/observational-memory.yaml, line 2: ttl_days is"), words


def test_a_module_that_misses_something_else_says_so(bare, monkeypatch, tmp_path):
    (tmp_path / "om_broken_command.py").write_text("import not_there_either")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(PLACES, "demo", "om_broken_command")
    assert bare("demo").exception.name == "not_there_either"
    assert "(cannot be loaded: No module named 'not_there_either')" in " ".join(bare("--help").stdout.split())


def test_of_anything_mistyped_the_nearest_is_told(bare):
    for typed, meant in {"staats": "stats", "config shwo": "show", "rejected lst": "list",
                         "stats --jsn": "--json"}.items():  # fmt: skip
        result = bare(*typed.split())
        assert result.exit_code == 2, typed
        assert meant in result.stderr.split("id you mean")[1], typed


@pytest.mark.smoke
def test_om_process_prints_json_and_ends_with_its_exit_codes(om, world, server_url):
    script = [Path(sys.executable).with_name("om"), "--url", server_url]
    doctor = subprocess.run([*script, "doctor", "--json"], capture_output=True, text=True, check=False)
    assert (doctor.returncode, doctor.stderr.partition(":")[0]) == (1, "troubles")
    assert {"store", "workers"} <= {finding["about"] for finding in json.loads(doctor.stdout)}
    world.om.pause("harold")
    follow = [*script, "events", "--follow", "--json"]
    with started(follow, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        first = json.loads(process.stdout.readline())
        world.om.resume("harold")
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.wait(20)
    assert (first["kind"], second["kind"], process.returncode) == ("paused", "resumed", 130)


def leaves(group, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(leaves(main))
WITHOUT_JSON = {
    ("up",),  # runs until it is stopped
    ("demo",),  # shows three conversations as they go on
    ("api",),  # serves until it is stopped
    ("ui",),  # opens a browser, and prints the one address
    ("mcp",),  # speaks a protocol of its own on stdout
    ("bench",),  # hands everything on to om_bench, whose reports are files of JSON
}


def test_every_command_that_ends_has_json():
    for path in sorted(COMMANDS.keys() - WITHOUT_JSON):
        assert any("--json" in option.opts for option in COMMANDS[path].params), path


ANSWERS = (  # of a memory with observations and a generation, in this order
    *("stats harold", "threads harold", "chunks harold", "observations harold", "history harold", "costs harold"),
    *("context harold t-1", "recall harold message", "browse harold m-0", "top", "queues", "verify"),
    *("rejected list harold", "rejected retry harold --all", "rejected drop harold --all", "config", "config show"),
    *("models list", "models try gemini-2.5-flash --wait 0", "config check", "keys list", "acl harold"),
    *("push harold t-1 hello", "observe harold --wait 0", "reflect harold --wait 0", "pause harold", "resume harold"),
    *("migrate-scope harold --to resource", "pins harold", "line add harold t-1 Ada", "line correct harold Ada Bo"),
    *("pin harold Bo", "unpin harold Bo", "restore harold 0", "clear harold --yes"),
)


def test_what_it_prints_is_json_and_nothing_else(om, reflected):
    reflected.say("message 0", id="m-0")
    for words in ANSWERS:
        result = om(*words.split(), "--json")
        assert result.exit_code == 0, (words, result.output)
        assert json.loads(result.stdout) is not None, words
    refused = om("config", "--json", "show")
    assert (refused.exit_code, "om config show --json" in refused.stderr) == (2, True)


#: what the audit trail does not tell of, and why
NOT_TOLD = {
    *("stats", "threads", "chunks", "observations", "history", "groups", "extracted", "sources", "recall", "browse"),
    *("working-memory show", "working-memory versions", "context", "top"),  # they look
    *("rejected list", "rejected show", "costs", "events", "audit", "queues", "doctor", "health", "keys list"),
    *("pins", "review list", "review show"),
    *("config", "config show", "config check", "webhooks list", "webhooks dead", "models list", "archive status"),
    *("push", "replay"),  # what an agent sends
    *("thread show", "thread aliases", "hooks list", "hooks try"),  # the last asks, of what is nobody's
    *("up", "demo", "bench"),  # they begin processes, and the latter have a store of their own
    *("api", "mcp", "ui"),  # what is asked of them is told by them
}


def test_every_command_that_operates_is_told_to_the_audit_trail():
    for path in sorted(COMMANDS):
        did = getattr(COMMANDS[path], "audited", "")
        assert did in {"", *DID}, path
        assert bool(did) != (" ".join(path) in NOT_TOLD), path
