"""docs/hooks.md: its function and its server do what they are said to."""

import threading
import tomllib

from hook_house import hooks_installed
from pages import ROOT, blocks

from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Hook
from om_api.hooks.asking import ask_all
from om_api.hooks.entry_points import GROUP
from om_api.hooks.examples import EXAMPLES

PAGE = (ROOT / "docs" / "hooks.md").read_text()
FUNCTION, SERVER = blocks(PAGE, "python")


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
