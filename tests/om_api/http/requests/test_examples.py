"""What the document gives as an example is what is sent."""

from om_api import load_settings
from om_api.http import make_app
from om_api.http.routes.backup import router

LINES = {"Content-Type": "application/x-ndjson"}

HAROLD = "/v1/resources/harold"
THREAD = f"{HAROLD}/threads/t-1"


def test_the_example_of_a_context_is_what_is_replied_to_its_one_message(say, ask, app):
    told = app.get("/v1/openapi.json").json()["paths"]["/v1/resources/{resource}/threads/{thread}/context"]["get"]
    say("m-1", content="Hello", tokens=5)
    found = ask("GET", f"{THREAD}/context", params={"format": "openai"}).json()

    assert found == told["responses"]["200"]["content"]["application/json"]["example"]


def test_the_example_of_a_file_can_be_imported(ask):
    document = make_app(load_settings(environ={})).openapi()
    (path,) = [route.path for route in router.routes if route.path.endswith("/import")]
    body = document["paths"][path]["post"]["requestBody"]["content"]["application/x-ndjson"]
    file = body["examples"]["file"]["value"]

    assert ask("POST", f"{HAROLD}/import", content=file, headers=LINES).json()["messages"] == 1
    assert "Hello" in ask("GET", f"{HAROLD}/threads/t-1/context").json()["context"]


def test_the_example_of_a_history_is_what_is_replied_when_its_last_message_is_new(ask):
    paths = make_app(load_settings(environ={})).openapi()["paths"]
    told = paths["/v1/resources/{resource}/threads/{thread}/sync"]["post"]
    body = told["requestBody"]["content"]["application/json"]["examples"]["three"]["value"]
    ask("POST", f"{THREAD}/sync", json={"messages": body["messages"][:-1]})
    found = ask("POST", f"{THREAD}/sync", json=body).json()

    assert {**told["responses"]["200"]["content"]["application/json"]["example"], "diverged_at": None} == found
