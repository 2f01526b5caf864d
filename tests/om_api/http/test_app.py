"""An app as a whole: one document, settings that change, figures that are told."""

import jsonschema
from served import serving
from starlette.testclient import TestClient
from world import wait_until

from om_api import load_settings
from om_api.http import app as apps
from om_api.http import make_app

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


def test_settings_that_change_while_it_runs_are_taken_up(server_url, client, prefix, tmp_path):
    file = tmp_path / "agents" / "harold" / "memory.yaml"
    file.parent.mkdir(parents=True)
    settings = load_settings(tmp_path, {"OM_PREFIX": prefix, "OM_REDIS_URL": server_url})
    with TestClient(make_app(settings, locked=False), base_url="http://127.0.0.1") as http:
        file.write_text("observational_memory: {read_only: true}")
        given = {"messages": [{"role": "user", "content": "x"}]}

        wait_until(lambda: http.post(f"{THREAD}/messages", json=given).status_code == 422, "the new settings")


def test_contexts_served_are_counted_though_nobody_pushes(world, settings, monkeypatch):
    world.say("message 0")
    monkeypatch.setattr(apps, "TELL_S", 0.05)
    with serving(settings, locked=False) as http:
        for _ in range(2):
            http.get(f"{THREAD}/context")
        counted = f"{world.prefix}:counted-by:harold"
        wait_until(lambda: world.client.hget(counted, "served|contexts") == b"2", "figures of two contexts")


def test_the_document_is_written_once_and_tells_all_of_every_endpoint(app, monkeypatch):
    first = app.get("/v1/openapi.json")
    monkeypatch.setattr(app.app, "openapi", None)
    assert app.get("/v1/openapi.json").content == first.content

    document = first.json()
    assert [server["url"] for server in document["servers"]] == ["/"]
    assert "/mcp" not in document["paths"]
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)

    operations = [told for methods in document["paths"].values() for told in methods.values()]
    assert len({told["operationId"] for told in operations}) == len(operations)
    for told in operations:
        bodies = told.get("requestBody", {}).get("content", {}).values()
        assert told["description"].endswith("."), told
        assert all(reply["example"] for reply in told["responses"]["200"]["content"].values()), told
        assert all(body["examples"] for body in bodies), told
        assert all(each.get("description") for each in told.get("parameters", ())), told


def test_the_example_of_a_context_is_what_is_replied_to_its_one_message(say, ask, app):
    told = app.get("/v1/openapi.json").json()["paths"]["/v1/resources/{resource}/threads/{thread}/context"]["get"]
    say("m-1", content="Hello", tokens=5)
    found = ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()
    assert found == told["responses"]["200"]["content"]["application/json"]["example"]
