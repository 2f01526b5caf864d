"""Which URLs a client can be opened for, and how those that name no server are refused."""

import pytest

from om_api import SettingsError
from om_api.store.driver.async_connection import open_async_client
from om_api.store.driver.connection import open_client

both_clients = pytest.mark.parametrize("open_", [open_client, open_async_client])


@both_clients
@pytest.mark.parametrize("url", ["http://127.0.0.1", "redis+sentinel://127.0.0.1:1", "redis://h:1/0?health=x"])
def test_a_url_that_names_no_server_is_refused_with_what_is_permitted(url, open_):
    with pytest.raises(SettingsError, match=r"redis|URL"):
        open_(url)


@both_clients
@pytest.mark.parametrize("server", ["127.0.0.1:6379/0", "127.0.0.1:26379/mymaster/0"])
@pytest.mark.parametrize("sign", "/?#")
def test_no_part_of_a_password_is_told_where_it_spoils_the_url(sign, server, open_):
    """Breaks when the parser's own words are shown: it takes what stands before the sign for a port, and quotes it."""
    with pytest.raises(SettingsError) as refused:
        open_(f"redis{'+sentinel' * ('mymaster' in server)}://:s3cret{sign}more@{server}")

    assert "s3cret" not in str(refused.value)
