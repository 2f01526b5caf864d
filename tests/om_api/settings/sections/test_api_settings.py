"""How much the HTTP API takes: what an operator may choose, and that no choice leaves nobody any room."""

import json

import pytest

from om_api import load_settings
from om_api.domain.errors import SettingsError
from om_api.settings.sections.api_settings import ApiSettings


def test_what_an_operator_chooses_is_in_force_and_the_rest_is_as_it_was():
    chosen = load_settings(environ={"OM_API__CONNECTIONS": "5", "OM_API__CONNECTIONS_PER_ADDRESS": "null"}).memory.api

    assert (chosen.connections, chosen.connections_per_address) == (5, None)
    assert chosen.header_timeout == ApiSettings().header_timeout


@pytest.mark.parametrize("field", sorted(ApiSettings.model_fields))
def test_nothing_may_be_bounded_to_nothing(field):
    with pytest.raises(SettingsError, match=f"api.{field}"):
        load_settings(environ={f"OM_API__{field.upper()}": "0"})


def test_a_server_may_have_room_for_a_single_stream():
    assert load_settings(environ={"OM_API__STREAMS": "1", "OM_API__STREAMS_PER_KEY": "1"}).memory.api.streams == 1


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("[]", ()),
        ('"*"', "*"),
        ('["https://app.example.org", "http://localhost:3000", "http://[::1]:8080"]',) * 2,
    ],
)
def test_pages_of_other_origins_are_let_in_where_that_is_said(said, expected):
    chosen = load_settings(environ={"OM_API__CORS_ORIGINS": said}).memory.api.cors_origins

    assert chosen == (tuple(json.loads(expected)) if expected == said else expected)
    assert ApiSettings().cors_origins == ()


@pytest.mark.parametrize(
    "origin",
    [
        "https://app.example.org/",
        "https://app.example.org/page",
        "app.example.org",
        "https://App.example.org",
        "https://app.example.org:443",
        "http://app.example.org:80",
        "https://*.example.org",
        "https://me@app.example.org",
        "ftp://app.example.org",
        "null",
        "*",
        "",
    ],
)
def test_what_no_browser_would_say_is_no_origin(origin):
    with pytest.raises(SettingsError, match=r"api\.cors_origins.*permitted: a list of origins"):
        load_settings(environ={"OM_API__CORS_ORIGINS": json.dumps([origin])})


@pytest.mark.parametrize("said", ["https://app.example.org", "{}", "[1]", "true", json.dumps(["http://a"] * 101)])
def test_what_is_no_list_of_origins_is_refused(said):
    with pytest.raises(SettingsError, match=r"api\.cors_origins"):
        load_settings(environ={"OM_API__CORS_ORIGINS": said})
