"""Hooks in settings: exactly one of a name and a URL, within limits, and an error says what is permitted."""

import pytest
from pydantic import ValidationError

from om_api.domain.webhooks.hook import Hook
from om_api.settings.sections.hook_settings import POINTS, HookSettings

URL = {"url": "https://hooks.example.org:8443/om?k=v", "secret_env": "HOOK_SECRET"}


def test_what_is_left_out_is_ours():
    settings = HookSettings(before_observe=[{"entry_point": "calm"}, {**URL, "timeout": "1m", "on_failure": "stop"}])

    calm, far = settings.at("before_observe")
    assert calm == Hook("calm", "", "", 2.0, "skip")
    assert far == Hook("", URL["url"], "HOOK_SECRET", 60.0, "stop")
    assert (calm.name, far.name) == ("calm", "hooks.example.org:8443")
    assert [settings.at(point) for point in POINTS[1:]] == [()] * 4


def test_what_was_read_can_be_read_again():
    once = HookSettings(after_reflect=[{**URL, "timeout": 0.5}])

    assert HookSettings(**once.model_dump()) == once


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({}, "no list of at most 10"),
        ([{"entry_point": "a"}] * 11, "no list of at most 10"),
        (["calm"], "a hook is a mapping"),
        ([{"entry_point": "a", "function": "b"}], "'function' is no key"),
        ([{}], "exactly one of them"),
        ([{"entry_point": "a", **URL}], "exactly one of them"),
        ([{"entry_point": "os:system"}], "never module:function"),
        ([{"entry_point": 7}], "never module:function"),
        ([{"entry_point": "a", "secret_env": "HOOK_SECRET"}], "permitted: beside a url"),
        ([{**URL, "url": "ftp://example.org"}], "https://<host>"),
        ([{**URL, "url": "https://me:pw@example.org"}], "leave out name, password"),
        ([{**URL, "url": ["https://example.org"]}], "permitted: text"),
        ([{"url": URL["url"]}], "begins with HOOK_"),
        ([{**URL, "secret_env": "OM_REDIS_URL"}], "begins with HOOK_"),
        ([{"entry_point": "a", "timeout": "2 hours"}], "0.01 to 60 seconds"),
        ([{"entry_point": "a", "timeout": "61s"}], "0.01 to 60 seconds"),
        ([{"entry_point": "a", "timeout": True}], "0.01 to 60 seconds"),
        ([{"entry_point": "a", "on_failure": "retry"}], "skip or stop"),
        ([{"entry_point": "a", "on_failure": []}], "skip or stop"),
    ],
)
def test_what_cannot_be_says_what_is_permitted(stated, why):
    with pytest.raises(ValidationError, match=why):
        HookSettings(before_context=stated)


def test_a_point_that_there_is_not_is_refused():
    with pytest.raises(ValidationError, match="before_lunch"):
        HookSettings(before_lunch=[])
