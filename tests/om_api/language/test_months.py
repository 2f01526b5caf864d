"""Months without a year, said in every month of one."""

from datetime import date

import pytest

from om_api.language.relative_dates import meanings

SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@pytest.mark.parametrize("month", range(1, 13))
def test_a_month_that_is_to_come_is_the_next_of_its_name_and_one_that_was_the_last(month):
    said = date(2025, month, 15)

    assert list(meanings("we will move in July", said)) == [f"Jul {2025 + (month > 7)}"]
    assert list(meanings("we moved in July", said)) == [f"Jul {2025 - (month < 7)}"] * (month != 7)


@pytest.mark.parametrize("month", range(1, 13))
def test_the_end_of_a_month_is_its_last_day_where_something_is_due(month):
    said = date(2024, month, 3)
    last = 29 if month == 2 else 30 if month in {4, 6, 9, 11} else 31

    assert list(meanings("pay by the end of the month", said)) == [f"{SHORT[month - 1]} {last}, 2024"]
    assert list(meanings("pay at the end of the month", said)) == [f"{SHORT[month - 1]} 2024"]
