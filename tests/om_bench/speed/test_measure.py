from om_bench.speed.measure import Measured, as_lines
from om_bench.speed.stand import Figure

FIGURES = [
    Figure(work="a", ours="2 us", reference="1 us", value=2, reach=3),
    Figure(work="b", ours="", reference="", value=5.5, reach=400, unit="calls", at_least=True),
    Figure(work="c", ours="", reference="", value=1_000, reach=None),
]


def test_each_figure_is_a_row_with_what_is_to_be_reached_and_whether_it_was():
    assert list(as_lines(Measured("2026-11-23", "2 cores", FIGURES))) == [
        "Measured on 2026-11-23: 2 cores.",
        "",
        "| work | ours | reference | value | reach | met |",
        "|---|---|---|---|---|---|",
        "| a | 2 us | 1 us | 2.00 x | <= 3 x | yes |",
        "| b |  |  | 5.50 calls | >= 400 calls | **no** |",
        "| c |  |  | 1,000.00 x | - | - |",
    ]
