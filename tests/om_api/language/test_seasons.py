"""Seasons, said in every month of a year."""

from datetime import date

import pytest

from om_api.language.relative_dates import meanings


@pytest.mark.parametrize("month", range(1, 13))
def test_last_summer_is_the_latest_that_is_over_but_for_the_month_behind_it(month):
    over = f"summer {2024 + (month > 8)}"

    assert list(meanings("last summer was hot", date(2025, month, 10))) == [over] * (month != 9)


@pytest.mark.parametrize("month", range(1, 13))
def test_a_winter_has_two_years(month):
    running = {12: ["winter 2025/26"], 1: ["winter 2024/25"], 2: ["winter 2024/25"]}

    assert list(meanings("this winter is mild", date(2025, month, 10))) == running.get(month, ["winter 2025/26"])
    assert list(meanings("we will ski in the winter", date(2025, month, 10))) == ["winter 2025/26"] * (2 < month < 12)
