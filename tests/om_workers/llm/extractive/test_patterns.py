from extracts import block, reflect


def test_what_recurs_on_three_dates_becomes_a_pattern():
    days = [f"Date: Dec {day}, 2025\n* 🔴 (09:0{day}) nightly export failed: lock timeout {day}" for day in (1, 2, 4)]
    text = reflect(*days)

    assert block(text)[-1].startswith("* Pattern: ")
    assert "lock timeout" in block(text)[-1]
    assert "(3 dates, Dec 1, 2025 to Dec 4, 2025)" in block(text)[-1]
    assert "Pattern:" not in reflect(*days[:2])


def test_a_pattern_of_an_earlier_generation_stays():
    text = reflect(
        "Date: Dec 1, 2025\n* 🟡 (09:00) User: hello Bo\n* 🟡 Pattern: deploys on Mondays break", "* 🟡 new line"
    )

    assert block(text)[-1] == "* Pattern: deploys on Mondays break"
