"""Pages of an agent that is redacted: none of them shows what was planted, nor does the log of who looked."""

import json

import pytest
from page_routes import PAGES, Owner
from planted import ALL, PASSWORD, leaks, store_bytes
from served import settings_of
from world import World

CHANGED = {
    "redaction__before": "store",
    "working_memory__template": "- **Name**: what they are called\n- **Password**: what opens their door",
    "reflection__review": "ask",
}
SECRET = "ada@example.com"


@pytest.fixture
def settings(settings):
    return settings_of(settings, **CHANGED)


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, **CHANGED)


@pytest.fixture
def owner(world):
    """An agent with something of everything, in which all is planted that a text may hold."""
    world.say(
        f"zanzibar {ALL}", f"or password={PASSWORD}", resource="harold", thread="harold-talks",
        metadata={"token": PASSWORD},
    )  # fmt: skip
    made = Owner(World(world.client, world.prefix, **{**CHANGED, "reflection__review": "off"}), "harold")
    key = f"{world.prefix}:{{harold}}:messages:harold-talks"
    world.client.zadd(key, {json.dumps({"role": "nobody", "text": f"zanzibar {ALL}", "password": PASSWORD}): 2})
    world.sweep()
    om = world.om
    line = om.add_line(f"zanzibar {ALL}", "harold", thread_id="harold-talks", by="ada")
    om.correct_line(line.now, f"* 🟡 zanzibar and {ALL}", "harold", observation_id=line.observation_id)
    om.pin(f"zanzibar and {ALL}", "harold")
    om.update_working_memory({"Name": ALL, "Password": PASSWORD}, "harold")
    om.set_thread("harold", "harold-talks", title="of harold.finch@ift-example.com", metadata={"password": PASSWORD})
    world.say(f"zanzibar again {ALL}", resource="harold", thread="harold-talks")
    om.force_reflect("harold")
    world.settle()
    if waiting := om.proposal("harold"):
        om.send_back("harold", comment=f"leave out {ALL}", proposal=waiting.id)
        world.settle()
    return made


def test_no_page_shows_what_was_planted(sign_in, owner, world, capsys):
    session, shown = sign_in("operator", "*"), {}
    for path in PAGES:
        asked = "?query=zanzibar&q=zanzibar" if path.endswith("/recall") else ""
        shown[path] = session.get(owner.path(path, "harold") + asked)

    assert {path: answer.status_code for path, answer in shown.items() if answer.status_code != 200} == {}
    assert sum("[email]" in answer.text for answer in shown.values()) > 5
    assert {path: kinds for path, answer in shown.items() if (kinds := leaks(answer.text))} == {}
    assert leaks(session.get("/ui/agents/harold/export").content) == []
    assert leaks(store_bytes(world.client, world.prefix)) == []
    said = "".join(capsys.readouterr())
    assert ("request_served" in said, leaks(said)) == (True, [])


def test_what_was_stored_before_is_redacted_by_a_button_once_it_was_seen_how_much(sign_in, client, prefix):
    World(client, prefix).say(f"write to {SECRET}")
    session = sign_in("operator", "harold")
    would = session.send("/ui/agents/harold/redact", {})
    before = World(client, prefix).om.messages("harold", "t-1")[0].content
    done = session.send("/ui/agents/harold/redact", {"sure": "yes"})
    again = session.send("/ui/agents/harold/redact", {})

    assert "<li>1 email</li><li>messages: 1 place</li>" in would.text
    assert SECRET in before
    assert SECRET not in would.text + done.text
    assert World(client, prefix).om.messages("harold", "t-1")[0].content == "write to [email]"
    assert "There is nothing of it." in again.text
