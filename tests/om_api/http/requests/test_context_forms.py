"""A context over HTTP is of the kind that the document names for its format, with no field that the document does not know."""

import jsonschema
import msgspec
import pytest

from om_api.context import FORMS
from om_api.http.requests.context_forms import RENDERED

HAROLD = "/v1/resources/harold"
CONTEXT = "/v1/resources/{resource}/threads/{thread}/context"
PNG = "data:image/png;base64,aWs="
SAID = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image", "url": PNG, "detail": "low"}]},
    {"role": "user", "content": [{"type": "image", "url": "https://a.example/i.png", "mime": "image/png"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "c2ln"},
            {"type": "text", "text": "I look it up."},
            {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"day": "Friday"}},
        ],
    },
    {"role": "tool", "content": [{"type": "tool-result", "tool_call_id": "c-1", "result": "no", "is_error": True}]},
]


@pytest.fixture
def told(full, ask):
    """Harold's memory in all three tiers, and a thread in which everything is said that can be."""
    ask("POST", f"{HAROLD}/threads/t-3/messages", json={"messages": SAID})
    return lambda form: ask("GET", f"{HAROLD}/threads/t-3/context", params={"format": form}).json()


@pytest.mark.parametrize("form", FORMS)
def test_a_context_is_of_the_kind_that_the_document_names(told, app, form):
    document = app.get("/v1/openapi.json").json()
    schema = document["paths"][CONTEXT]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    kind = document["components"]["schemas"][schema["discriminator"]["mapping"][form].rpartition("/")[2]]
    found = told(form)

    jsonschema.Draft202012Validator({**kind, "components": document["components"]}).validate(found)
    assert msgspec.to_builtins(msgspec.convert(found, RENDERED[form])) == found


def test_there_is_a_kind_for_each_format():
    assert list(RENDERED) == list(FORMS)
