"""Which URLs a client can be opened for, and how those that name no server are refused."""

import pytest

from om_api import SettingsError
from om_api.store.driver.async_connection import open_async_client
from om_api.store.driver.connection import open_client


def test_a_url_that_names_no_server_is_refused_without_any_part_of_a_password():
    """Breaks when the parser's own words are shown: it takes what stands before the sign for a port, and quotes it."""
    urls = ["http://127.0.0.1", "redis+sentinel://127.0.0.1:1", "redis://h:1/0?health=x"]
    urls += [f"redis://:s3cret{sign}more@127.0.0.1:6379/0" for sign in "/?#"]
    urls += [f"redis+sentinel://:s3cret{sign}more@127.0.0.1:26379/mymaster/0" for sign in "/?#"]
    for open_ in (open_client, open_async_client):
        for url in urls:
            with pytest.raises(SettingsError, match=r"redis|URL") as refused:
                open_(url)
            assert "s3cret" not in str(refused.value), url
