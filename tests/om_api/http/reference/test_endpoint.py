"""One endpoint of the page."""

from xml.etree import ElementTree as ET

import pytest

from om_api import load_settings
from om_api.http import make_app
from om_api.http.reference.endpoint import article

DOCUMENT = make_app(load_settings(environ={})).openapi()
OPERATIONS = [(path, method, told) for path, each in DOCUMENT["paths"].items() for method, told in each.items()]


def _text(path, method):
    made = article(path, method, DOCUMENT["paths"][path][method])
    return "\n".join(made.itertext())


@pytest.mark.parametrize(("path", "method", "told"), OPERATIONS, ids=[told["operationId"] for _, _, told in OPERATIONS])
def test_an_endpoint_is_shown_with_all_that_the_document_says_of_it(path, method, told):
    made = article(path, method, told)
    codes = {code.text for code in made.iter("code")}
    titles = [title.text for title in made.iter("h4")]

    assert made.get("id") == told["operationId"]
    assert {path, *(each["name"] for each in told.get("parameters", ()))} <= codes
    assert set(told["responses"]) - {"200"} <= codes
    assert ("Body" in titles, "Parameters" in titles) == ("requestBody" in told, "parameters" in told)
    assert titles[-2:] == ["Ask", "Reply"]
    assert len(list(made.iter("pre"))) >= 2, "no example of what is asked and what is replied"


def test_who_may_ask_and_what_may_be_left_out_are_said():
    assert "Needs a key of a writer." in _text("/v1/resources/{resource}/observe", "post")
    assert "It may be left out." in _text("/v1/resources/{resource}/observe", "post")
    assert "Needs a key of an operator" in _text("/v1/resources/{resource}", "delete")
    assert "Needs no key." in _text("/healthz", "get")


def test_what_a_value_is_called_leads_to_it():
    made = article("/healthz", "get", DOCUMENT["paths"]["/healthz"]["get"])

    assert 'href="#Health"' in ET.tostring(made, "unicode")
