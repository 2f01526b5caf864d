from __future__ import annotations

from extracts import TALK, block, observe, returned


def test_results_of_one_tool_stand_together():
    results = [
        returned("get_price", {"city": city, "euros": 40 + place}, place, place)
        for place, city in enumerate(("Graz", "Linz"))
    ]

    assert block(observe(*results))[1:] == [
        "* 🟡 (14:30) get_price: city Graz, euros 40",
        "  * -> city Linz, euros 41",
    ]


def test_what_somebody_says_in_a_sitting_stands_in_one_line_with_a_name():
    lines = block(observe(*TALK, target_tokens=70))

    assert [line.split(": ")[0] for line in lines] == ["Date", "* 🔴 Ilse", "* 🔴 Noor"]
    assert "Biscuit" in lines[1]
    assert "vineyard" in lines[2]
    assert "beekeeper" in lines[2]
