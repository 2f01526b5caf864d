"""Addresses are shown without their passwords, wherever those stand."""

import pytest

from om_api.settings.sections.urls import has_password, is_cluster_url, is_redis_url, safe_url, with_password


@pytest.mark.parametrize("name", ["password", "sentinel_password", "PASSWORD"])
@pytest.mark.parametrize("before", ["?", "?a=1&"])
def test_a_password_in_the_query_is_never_shown(name, before):
    url = f"redis+sentinel://host/mymaster{before}{name}=hunter2"

    assert has_password(url)
    assert safe_url(f"{url}&db=1") == f"redis+sentinel://host/mymaster{before}{name}=***&db=1"


@pytest.mark.parametrize("url", ["redis+cluster://one:7000,two:7001", "rediss+cluster://me@one:7000"])
def test_nodes_of_a_cluster_are_an_address_and_keep_its_password_to_themselves(url):
    given = with_password(url, "p@/ss")

    assert is_redis_url(url)
    assert is_cluster_url(url)
    assert "p%40%2Fss" in given
    assert "p%40%2Fss" not in safe_url(given)
    assert not is_cluster_url("redis+sentinel://one/name")
