"""The guide of HTTP is that of the code: its limits and roles are in force."""

import re
from pathlib import Path

import msgspec
import pytest

from om_api import load_settings
from om_api.domain.api_keys import Role
from om_api.http import make_app
from om_api.http.requests.replies import KINDS
from om_api.http.serving import limits
from om_api.settings.sections.api_settings import ApiSettings

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "http.md").read_text()
DOCUMENT = make_app(load_settings(environ={})).openapi()
OPERATIONS = [(path, method, told) for path, methods in DOCUMENT["paths"].items() for method, told in methods.items()]


def _table(title):
    text = GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip("`"): row[1] for row in rows[2:]}


def test_the_limits_of_the_guide_are_those_in_force():
    most = [
        limits.MAX_BODY,
        limits.MAX_CALL,
        limits.SMALL_BODY,
        limits.MAX_IMPORT,
        limits.MAX_BATCH,
        limits.MAX_HISTORY,
        limits.MAX_MESSAGE,
        limits.MAX_PAGE,
        round(limits.MAX_WAIT_S),
    ]

    assert list(_table("Limits").values()) == [f"{n:,}" for n in most]
    assert f"({limits.PAGE} unless you say otherwise)" in GUIDE


def test_what_a_process_takes_is_what_its_settings_say():
    told = {name: value.replace(",", "").removesuffix(" s") for name, value in _table("Strangers and crowds").items()}

    bounds = {name: field for name, field in ApiSettings.model_fields.items() if name != "cors_origins"}
    assert told == {f"api.{name}": str(field.default) for name, field in bounds.items()}


def test_the_roles_of_the_guide_are_those_there_are():
    assert list(_table("Keys")) == list(Role)


def test_every_status_that_openapi_names_is_explained():
    named = {status for _, _, told in OPERATIONS for status in told["responses"] if status != "200"}

    assert named <= set(re.findall(r"\d{3}", " ".join(_table("Errors"))))


@pytest.mark.parametrize(("path", "method", "told"), OPERATIONS, ids=[told["operationId"] for _, _, told in OPERATIONS])
def test_every_endpoint_has_a_description_and_an_example_of_what_it_replies_and_takes(path, method, told):
    replies = told["responses"]["200"]["content"].values()
    bodies = told.get("requestBody", {}).get("content", {}).values()

    assert told["description"].endswith(".")
    assert all(reply["example"] for reply in replies)
    assert all(body["examples"] for body in bodies)
    assert all(each.get("description") for each in told.get("parameters", ()))


def test_every_reference_inside_the_document_leads_somewhere():
    text = msgspec.json.encode(DOCUMENT).decode()
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))

    assert names <= set(DOCUMENT["components"]["schemas"])
    assert len(KINDS) > 10


def test_no_two_endpoints_have_one_name():
    names = [told["operationId"] for _, _, told in OPERATIONS]

    assert len(names) == len(set(names))
