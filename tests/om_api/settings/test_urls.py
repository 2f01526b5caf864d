"""Addresses are shown without their passwords, wherever those stand."""

import pytest

from om_api.settings.urls import has_password, safe_url


@pytest.mark.parametrize("name", ["password", "sentinel_password", "PASSWORD"])
@pytest.mark.parametrize("before", ["?", "?a=1&"])
def test_a_password_in_the_query_is_never_shown(name, before):
    url = f"redis+sentinel://host/mymaster{before}{name}=hunter2"

    assert has_password(url)
    assert safe_url(f"{url}&db=1") == f"redis+sentinel://host/mymaster{before}{name}=***&db=1"
