"""How an endpoint is asked on a command line: a shell reads what was meant, whatever stands in an example."""

import json
import shlex

import pytest

from om_api import load_settings
from om_api.http import make_app
from om_api.http.reference.curl import curl

PATHS = make_app(load_settings(environ={})).openapi()["paths"]
HAROLD = "/v1/resources/{resource}"


def test_messages_are_added():
    path = f"{HAROLD}/threads/{{thread}}/messages"
    told = PATHS[path]["post"]
    example = told["requestBody"]["content"]["application/json"]["examples"]["two"]["value"]
    *line, kind, flag, body = shlex.split(curl(path, "post", told).replace("\\\n", ""))

    assert line == [
        *("curl", "-sS", "$OM/v1/resources/harold/threads/thread-1/messages"),
        *("-H", "Authorization: Bearer $TOKEN", "-H"),
    ]
    assert (kind, flag, json.loads(body)) == ("Content-Type: application/json", "-d", example)


@pytest.mark.parametrize(
    ("path", "method", "begins"),
    [
        (HAROLD, "delete", 'curl -sS -X DELETE "$OM/v1/resources/harold?confirm=harold"'),
        (f"{HAROLD}/pause", "post", 'curl -sS -X POST "$OM/v1/resources/harold/pause"'),
        (
            f"{HAROLD}/observations/{{observation}}/messages",
            "get",
            'curl -sS "$OM/v1/resources/harold/observations/$OBSER',
        ),
    ],
)
def test_a_path_has_a_value_for_all_that_is_required(path, method, begins):
    assert curl(path, method, PATHS[path][method]).startswith(begins)


def test_a_file_is_sent_as_it_is():
    path = f"{HAROLD}/import"

    assert curl(path, "post", PATHS[path]["post"]).endswith("--data-binary @harold.jsonl")


def test_nobody_is_told_to_send_a_key_where_none_is_needed():
    assert curl("/healthz", "get", PATHS["/healthz"]["get"]) == 'curl -sS "$OM/healthz"'


def test_an_example_closes_no_quote():
    content = {"application/json": {"examples": {"x": {"value": {"text": "it's $(id) `id`"}}}}}
    (*_, body) = shlex.split(curl("/x", "post", {"requestBody": {"content": content}}))

    assert json.loads(body) == {"text": "it's $(id) `id`"}
