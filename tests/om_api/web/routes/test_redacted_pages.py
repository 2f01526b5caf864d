"""Pages, and the HTTP API behind them, of an agent that is redacted: none of them shows what was planted."""

import json

import pytest
from page_routes import PAGES, Owner
from planted import ALL, PASSWORD, leaks, store_bytes
from world import SMALL, World

from om_api import load_settings
from om_api.http import make_app

CHANGED = {
    "redaction__before": "store",
    "working_memory__template": "- **Name**: what they are called\n- **Password**: what opens their door",
    "reflection__review": "ask",
}


@pytest.fixture
def settings(settings):
    named = {"OM_PREFIX": settings.prefix, "OM_REDIS_URL": settings.redis_url}
    return load_settings(None, {**SMALL, **named, **{f"OM_{name.upper()}": text for name, text in CHANGED.items()}})


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


def test_no_page_shows_what_was_planted(sign_in, owner, world):
    session, shown = sign_in("operator", "*"), {}
    for path in PAGES:
        asked = "?query=zanzibar&q=zanzibar" if path.endswith("/recall") else ""
        shown[path] = session.get(owner.path(path, "harold") + asked)

    assert {path: answer.status_code for path, answer in shown.items() if answer.status_code != 200} == {}
    assert sum("[email]" in answer.text for answer in shown.values()) > 5
    assert {path: kinds for path, answer in shown.items() if (kinds := leaks(answer.text))} == {}
    assert leaks(session.get("/ui/agents/harold/export").content) == []
    assert leaks(store_bytes(world.client, world.prefix)) == []


def test_nor_does_any_answer_of_the_api_or_a_line_of_its_log(app, settings, ring, owner, capsys):
    held = {"Authorization": f"Bearer {ring.create(('*',), 'operator')[1]}"}
    asked = {"query": "zanzibar", "format": "blocks"}
    paths = [
        path
        for path, told in make_app(settings).openapi()["paths"].items()
        if "get" in told and path.startswith("/v1/") and not path.endswith(("/stream", "/live", "/events"))
    ]
    answers = {path: app.get(path.format_map(_Named(owner)), headers=held, params=asked) for path in paths}
    said = "".join(capsys.readouterr())

    assert len([answer for answer in answers.values() if answer.status_code == 200]) > 15
    assert {path: kinds for path, answer in answers.items() if (kinds := leaks(answer.content))} == {}
    assert "request_served" in said
    assert leaks(said) == []


class _Named(dict):
    """What stands in a path of the API."""

    def __init__(self, owner):
        super().__init__(owner.ids, thread=owner.thread, n="1", generation="1")

    def __missing__(self, _):
        return "harold"
