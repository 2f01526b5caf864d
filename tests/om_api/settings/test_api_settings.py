"""How much the HTTP API takes: what an operator may choose, and that no choice leaves nobody any room."""

import pytest

from om_api import load_settings
from om_api.domain.errors import SettingsError
from om_api.settings.api_settings import ApiSettings


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
