"""docs/hooks.md: its function and its server do what they are said to, its points and limits are those in force."""

import threading
import tomllib

import pytest
import yaml
from hook_house import hooks_installed
from pages import ROOT, blocks

from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Fault, Hook
from om_api.hooks import time_limit
from om_api.hooks.answers import LONGEST, MOST_ADDED
from om_api.hooks.asking import ask_all
from om_api.hooks.entry_points import GROUP
from om_api.hooks.examples import EXAMPLES
from om_api.settings.sections.hook_settings import MOST, HookSettings

PAGE = (ROOT / "docs" / "hooks.md").read_text()
TEXT = " ".join(PAGE.split())
FUNCTION, SERVER = blocks(PAGE, "python")


def test_its_settings_can_be_in_force():
    stated = yaml.safe_load(blocks(PAGE, "yaml")[0])["observational_memory"]["hooks"]

    assert HookSettings(**stated).at("after_observe")[0].on_failure == "stop"


def test_its_function_leaves_out_robots_and_the_numbers_of_cards(monkeypatch):
    known = {}
    exec(FUNCTION, known)
    (name, place), = tomllib.loads(blocks(PAGE, "toml")[0])["project"]["entry-points"][GROUP].items()  # fmt: skip
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


def test_its_server_answers(monkeypatch):
    known = {}
    exec(SERVER, known)
    monkeypatch.setattr(known["Hook"], "log_message", lambda *_: None)
    monkeypatch.setenv("HOOK_SECRET", signing.new_secret())
    server = known["serve"](0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    hook = Hook(url=f"http://127.0.0.1:{server.server_address[1]}/om", secret_env="HOOK_SECRET")
    given = {**EXAMPLES["after_observe"], "text": "* 🟡 works on Project X"}
    try:
        found = ask_all("after_observe", [hook], given, allow_private=True)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert (found.failures, found.given["text"]) == ((), "* 🟡 works on the project")
    assert len(SERVER.strip().splitlines()) <= 20


@pytest.mark.parametrize("name", [*EXAMPLES, *Fault.__args__])
def test_each_point_and_each_way_to_fail_has_its_row(name):
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("point", EXAMPLES)
def test_a_points_row_names_what_it_is_given(point):
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{point}` |"))

    assert [name for name in EXAMPLES[point] if name not in {"resource", "thread"} and f"`{name}`" not in row] == []


def test_its_limits_are_those_in_force():
    assert MOST == 10
    assert f"up to {MOST_ADDED:,} characters" in TEXT
    assert f"more than {LONGEST // 1_000_000} MB" in TEXT
    assert f"{time_limit.MOST} calls may be under way" in TEXT
    assert f"({Hook().timeout:g}s unless you say otherwise)" in TEXT
