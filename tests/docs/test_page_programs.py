"""Programs that pages of the documentation show run, and print or do what the page says."""

import json
import re
import shlex
import subprocess
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hook_house import hooks_installed
from pages import ROOT, blocks
from programs import program
from servers import BINARIES, Server
from world import wait_until

from om_api import load_settings
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Hook
from om_api.hooks.asking import ask_all
from om_api.hooks.entry_points import GROUP
from om_api.hooks.examples import EXAMPLES


@pytest.mark.nightly
@pytest.mark.parametrize("binary", sorted(BINARIES))
def test_a_snapshot_is_restored_as_is_said(tmp_path, binary):
    without, with_files = (Server(tmp_path, "--appendonly", each, binary=BINARIES[binary]) for each in ("no", "yes"))
    with without as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with without as server, server.client() as client:
        client.config_set("appendonly", "yes")
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "the rewrite")
    with with_files as server, server.client() as client:
        assert client.get("kept") == b"1"


PAGE = (ROOT / "docs" / "recall.md").read_text()
ASK, TOOL, RANKER = blocks(PAGE, "python")
NOW = 1_795_167_000_000


@pytest.fixture
def printed(own_store, capsys):
    """What a program of the page prints, by lines."""

    def run(code):
        exec(compile(code, "docs/recall.md", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out.splitlines()

    return run


def test_asking_finds_the_message_and_browsing_its_turns(printed):
    assert printed(ASK) == [
        "thread-1 user My passport number is X1234567. read as it was said",
        "None ",
        "['Which number do you mean?', 'My passport number is X1234567.', 'Noted.'] False False",
    ]


def test_the_tool_answers_the_models_of_three_providers(printed):
    answers = "\n".join(printed(TOOL)).split("I looked it up: ")[1:]

    assert len(answers) == 3
    assert all("Thread t-1, message " in each and "user: My passport number is X1234567." in each for each in answers)


def test_a_ranker_orders_what_words_found(printed):
    assert printed(RANKER) == ["['My passport expired.', 'A passport, a map and a tent for the journey to Oslo.']"]


HOOKS_PAGE = (ROOT / "docs" / "hooks.md").read_text()
FUNCTION, SERVER = blocks(HOOKS_PAGE, "python")


def test_hook_function_leaves_out_robots_and_the_numbers_of_cards(monkeypatch):
    known = {}
    exec(FUNCTION, known)
    (name, place), = tomllib.loads(blocks(HOOKS_PAGE, "toml")[0])["project"]["entry-points"][GROUP].items()  # fmt: skip
    given = {"messages": [
        {"id": "a", "role": "user", "content": "pay with 4111 1111 1111 1111 today"},
        {"id": "b", "role": "user", "content": "beep", "metadata": {"robot": True}},
    ]}  # fmt: skip

    assert place == "calm:before_observe"
    with hooks_installed(monkeypatch) as house:
        house.install(**{name: known[place.partition(":")[2]]})
        found = ask_all("before_observe", [Hook(entry_point=name)], given, allow_private=False)
    assert found.failures == ()
    assert [each["content"] for each in found.given["messages"]] == ["pay with ···· today"]


def test_hook_server_answers(monkeypatch):
    known = {}
    exec(SERVER, known)
    monkeypatch.setattr(known["Hook"], "log_message", lambda *_: None)
    monkeypatch.setenv("OM_SECRET_HOOK", signing.new_secret())
    server = known["serve"](0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    hook = Hook(url=f"http://127.0.0.1:{server.server_address[1]}/om", secret_env="OM_SECRET_HOOK")
    given = {**EXAMPLES["after_observe"], "text": "* 🟡 works on Project X"}
    try:
        found = ask_all("after_observe", [hook], given, allow_private=True)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert (found.failures, found.given["text"]) == ((), "* 🟡 works on the project")
    assert len(SERVER.strip().splitlines()) <= 20


WEBHOOKS_PAGE = (ROOT / "docs" / "webhooks.md").read_text()
BODY = '{"kind":"reflected","resource":"wörker-1"}'.encode()
SECRET = signing.new_secret()


def sent(at=None, secret=SECRET, name="msg_1"):
    return signing.headers(secret, name, round(time.time() if at is None else at), BODY)


def with_python(headers, body):
    (code,) = blocks(WEBHOOKS_PAGE, "python")
    known = {}
    exec(code, known)
    try:
        known["verify"](SECRET, headers, body)
    except ValueError as error:
        return str(error)
    return "verified"


def with_node(headers, body):
    (code,) = blocks(WEBHOOKS_PAGE, "js")
    asked = json.dumps([SECRET, headers, body.hex()])
    call = f'const [s, h, b] = {asked}; try {{ verify(s, h, Buffer.from(b, "hex")); console.log("verified"); }}'
    run = subprocess.run(
        [program("node"), "-e", f"{code}\n{call} catch (error) {{ console.log(error.message); }}"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return run.stdout.strip()


@pytest.mark.parametrize("verified", [with_python, with_node])
def test_what_workers_send_is_verified_and_nothing_else_is(verified):
    good, now = sent(), time.time()
    signed = good["webhook-signature"]
    for signature in (signed, f"v1,b3RoZXI= {signed}"):
        assert verified({**good, "webhook-signature": signature}, BODY) == "verified"
    for headers, body in [
        (good, BODY + b" "),
        ({**good, "webhook-id": "msg_2"}, BODY),
        (sent(secret=signing.new_secret()), BODY),
        ({**good, "webhook-signature": signed.replace("v1,", "v2,")}, BODY),
        ({**good, "webhook-signature": "v1,"}, BODY),
    ]:
        assert verified(headers, body) == "signed by somebody else, or changed on the way", (headers, body)
    for at in (now - 400, now + 400):
        assert verified(sent(at=at), BODY) == "signed too long ago, or ahead of time"


MIGRATION_PAGE = (ROOT / "docs" / "migration.md").read_text()
FILES = ("history.json", "mastra.json", "facts.json")
SENT = 'redis-cli -u "$OM_REDIS_URL" '


@pytest.fixture
def here(own_store: Path) -> Path:
    """A folder with the page's files."""
    for name, text in zip(FILES, blocks(MIGRATION_PAGE, "json"), strict=True):
        (own_store / name).write_text(text)
    return own_store


def _run() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    for code in blocks(MIGRATION_PAGE, "python"):
        exec(compile(code, "migration.md", "exec"), scope)


def test_every_program_runs_and_everything_that_was_brought_is_remembered_once(here, world, capsys):
    _run()
    world.sweep()
    world.settle()
    said = capsys.readouterr().out
    assert "c-1: 2 added, 0 known" in said
    assert re.search(r"^\d+ tokens in 2 threads$", said, re.MULTILINE)

    _run()  # which adds nothing
    world.settle()
    assert world.covering() == ["a1", "a2", "f-1", "f-2", "m-1", "m-2", "m-3", "m-4"]
    assert world.om.verify() == []
    assert (here / "imported.txt").read_text().split() == ["c-1", "c-2"]
    world.om.force_observe(resource_id="harold")
    world.settle()
    context = world.context("t-7").text
    assert ("Mar 4, 2025" in context, "Jan 10, 2025" in context) == (True, True)


def test_a_key_of_the_older_form_goes_to_the_resource_that_its_message_names(here, client, prefix, world):
    for line in [
        line for block in blocks(MIGRATION_PAGE, "sh") for line in block.splitlines() if line.startswith(SENT)
    ]:
        client.execute_command(*shlex.split(line.removeprefix(SENT).replace("cortex:om", prefix)))
    world.sweep()

    assert world.covering() == ["m-9"]


def test_the_yaml_of_the_page_is_in_force(here):
    (text,) = re.findall(r"```yaml\n(.*?)```", MIGRATION_PAGE, re.DOTALL)
    (here / "config").mkdir()
    (here / "config" / "observational-memory.yaml").write_text(re.sub(r"^  ", "", text, flags=re.MULTILINE))
    settings = load_settings(here / "config", {})

    assert settings.problems == ()
    assert settings.memory.observer_models == ("extractive",)
