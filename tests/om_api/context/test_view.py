import re
from datetime import UTC, datetime

import pytest
from snapshots import context, full, volatile

from om_api.context import View
from om_api.domain.errors import InvalidInputError


def test_the_time_zone_decides_the_date():
    late = int(datetime(2025, 12, 31, 23, 30, tzinfo=UTC).timestamp() * 1000)

    assert "December 31, 2025" in volatile(context(full(), late))
    assert "January 1, 2026 (Europe/Berlin)" in volatile(context(full(), late, timezone="Europe/Berlin"))


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "", "Europe"])
def test_an_unknown_time_zone_is_refused_by_name(zone):
    with pytest.raises(InvalidInputError, match="timezone"):
        View(timezone=zone)


def test_a_hash_names_a_text_by_sixteen_hex_digits():
    first, second = (context(full(text)).blocks for text in ("one", "two"))

    assert all(re.fullmatch("[0-9a-f]{16}", block.hash) for block in first)
    assert first[0].hash == second[0].hash
    assert first[1].hash != second[1].hash
