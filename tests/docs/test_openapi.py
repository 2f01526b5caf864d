"""The OpenAPI document describes every endpoint, with examples, and names nothing that it does not define."""

import re

import msgspec

from om_api import load_settings
from om_api.http import make_app

DOCUMENT = make_app(load_settings(environ={})).openapi()
OPERATIONS = [told for methods in DOCUMENT["paths"].values() for told in methods.values()]


def test_every_endpoint_has_a_name_a_description_and_an_example_of_what_it_replies_and_takes():
    names = [told["operationId"] for told in OPERATIONS]
    assert len(names) == len(set(names))
    for told in OPERATIONS:
        replies = told["responses"]["200"]["content"].values()
        bodies = told.get("requestBody", {}).get("content", {}).values()

        assert told["description"].endswith("."), told
        assert all(reply["example"] for reply in replies), told
        assert all(body["examples"] for body in bodies), told
        assert all(each.get("description") for each in told.get("parameters", ())), told


def test_every_reference_inside_the_document_leads_somewhere():
    text = msgspec.json.encode(DOCUMENT).decode()
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))

    assert names
    assert names <= set(DOCUMENT["components"]["schemas"])
