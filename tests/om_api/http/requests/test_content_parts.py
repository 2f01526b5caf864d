"""What OpenAPI is told of a message's parts: ours by their fields, those of vendors as they are."""

import jsonschema
import pytest

from om_api import load_settings
from om_api.http import make_app

MESSAGES = "/v1/resources/harold/threads/t-1/messages"
OURS = {
    "TextPart": {"type": "text", "text": "Hello"},
    "ToolCallPart": {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"day": "Friday"}},
    "ToolResultPart": {"type": "tool-result", "tool_call_id": "c-1", "name": "look", "result": "OSL", "is_error": True},
    "ImagePart": {"type": "image", "url": "https://a.example/i.png", "mime": "image/png", "detail": "low"},
    "FilePart": {"type": "file", "url": "https://a.example/f.pdf", "mime": "application/pdf", "name": "f", "tokens": 9},
}
VENDORS = [
    "Hello",
    {"text": "Hello"},
    {"functionCall": {"name": "look", "args": {}}},
    {"type": "input_text", "text": "Hello"},
    {"type": "image_url", "image_url": {"url": "https://a.example/i.png"}},
    {"type": "tool_use", "id": "c-1", "name": "look", "input": {}},
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "server_tool_use", "whatever": [1]},
]


@pytest.fixture(scope="module")
def document():
    return make_app(load_settings(environ={})).openapi()


def _validate(document, name, value):
    schema = document["components"]["schemas"][name]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


@pytest.mark.parametrize("name", OURS)
def test_a_part_of_ours_has_a_type_of_its_own(document, name):
    (_, parts, _) = document["components"]["schemas"]["GivenMessage"]["properties"]["content"]["anyOf"]
    known = parts["items"]["anyOf"][0]

    assert known["discriminator"]["mapping"][OURS[name]["type"]] == f"#/components/schemas/{name}"
    assert OURS[name].keys() <= document["components"]["schemas"][name]["properties"].keys()
    _validate(document, name, OURS[name])


@pytest.mark.parametrize("content", [*([part] for part in (*OURS.values(), *VENDORS)), "Hello", []], ids=str)
def test_what_is_accepted_is_what_the_document_permits(ask, document, content):
    message = {"id": "m-1", "role": "assistant", "content": content}

    _validate(document, "GivenMessage", message)
    assert ask("POST", MESSAGES, json={"messages": [message]}).json()["added"] == 1


def test_a_content_that_is_no_text_and_no_list_is_not_permitted(document):
    with pytest.raises(jsonschema.ValidationError):
        _validate(document, "GivenMessage", {"role": "user", "content": [5]})
