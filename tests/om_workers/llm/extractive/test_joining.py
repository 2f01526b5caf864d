import pytest
from extracts import TALK, block, observe, returned, said


def test_results_of_one_tool_stand_together():
    results = [
        returned("get_price", {"city": city, "euros": 40 + place}, place, place)
        for place, city in enumerate(("Graz", "Linz"))
    ]

    assert block(observe(*results))[1:] == [
        "* (14:30) get_price: city Graz, euros 40",
        "  * -> city Linz, euros 41",
    ]


def test_what_somebody_says_in_a_sitting_stands_in_one_line_with_a_name():
    lines = block(observe(*TALK, target_tokens=85))

    assert [line.split(": ")[0] for line in lines] == ["Date", "* 🔴 Ilse", "* Noor"]
    assert "Biscuit" in lines[1]
    assert "vineyard" in lines[2]
    assert "beekeeper" in lines[2]


def test_a_sitting_past_midnight_has_a_line_on_each_day():
    talk = (
        said("Ilse: I sold 3 gates", minute=220),
        said("Noor: I sold 2", minute=221),
        said("Ilse: I sold 4 boats", minute=245),
    )
    lines = block(observe(*talk, timezone="Asia/Kolkata"))

    assert [line for line in lines if line.startswith("Date:")] == ["Date: Dec 3, 2025", "Date: Dec 4, 2025"]
    assert "4 boats" in lines[-1]


def test_of_four_lines_one_is_high_and_what_failed_comes_first():
    talk = [said(f"I always keep {number + 2} parrots in room {number}", minute=number) for number in range(7)]
    failed = returned("deploy", "disk full", is_error=True, minute=9)
    high = [line for line in block(observe(*talk, failed, target_tokens=1_000)) if "🔴" in line]

    assert len(high) == 2
    assert "deploy: disk full" in high[1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I prefer short answers in Portuguese", "🔴 "),
        ("We decided to use Valkey instead of Redis", "🔴 "),
        ("The deadline moved from March 3 to March 9", "🔴 "),
        ("Could you rename the billing module?", ""),
        ("maybe the cache of the parser leaks", "🟢 "),
        ("the parser rewrite is merged", "✅ "),
    ],
)
def test_a_line_has_the_priority_of_what_it_tells(text, line):
    assert block(observe(said(text)))[1].startswith(f"* {line}(14:30) User")
