"""Connections are counted by address, and nothing is remembered of who is gone."""

import pytest
from structlog.testing import capture_logs

from om_api.http.serving.connections import Connections
from om_api.settings.sections.api_settings import ApiSettings

LIMITS = ApiSettings()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_an_ipv6_network_is_one_address(one, other, same):
    found = Connections(ApiSettings(connections_per_address=1))

    assert found.enter((one, 1)) is not None
    assert (found.enter((other, 1)) is None) is same


def test_behind_a_proxy_all_connections_may_come_from_one_address():
    found = Connections(ApiSettings(connections=5, connections_per_address=None))

    assert [found.enter(("10.0.0.1", 1)) is None for _ in range(6)] == [False] * 5 + [True]


def test_nothing_is_remembered_of_who_is_gone():
    found = Connections(ApiSettings())
    for n in range(1_000):
        found.leave(found.enter((f"10.0.{n // 256}.{n % 256}", 1)) or "")

    assert not found._open


def test_what_was_turned_away_is_told_once_and_nothing_is_told_of_quiet_times():
    found = Connections(LIMITS)
    found.refused.update({"long heads": 2, "connections": 1})

    with capture_logs() as lines:
        for _ in range(2):
            found.tell()

    assert [(line["event"], line["long_heads"], line["connections"]) for line in lines] == [
        ("connections_refused", 2, 1)
    ]
