from __future__ import annotations

import pytest

from om_workers.bench.named_dates import named


@pytest.mark.parametrize("text", ["on May 7", "7 May 2023", "the 7th of may", "2023-05-07T10:00Z", "May the 7th, 2023"])
def test_a_day_is_known_however_it_is_spelled(text):
    assert named(text) == {(5, 7)}


@pytest.mark.parametrize("text", ["last Friday", "in May", "may 70", "may 7:30", "maybe 7", "2023", "7 mayors"])
def test_what_names_no_day_is_none(text):
    assert named(text) == set()
