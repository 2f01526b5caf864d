"""Charts as a template draws them: within their frame, stacked, and with something to see of a single point."""

import pytest

from om_api.web.pages.charts import EDGE, HEIGHT, WIDTH, ChartSeries, chart


def _corners(area):
    return [tuple(map(float, each.split(","))) for each in area.corners.split()]


@pytest.mark.parametrize(
    "values", [[[1, 2, 3]], [[1, 2, 3], [4, 0, 1]], [[0, 0]], [[5]], [[1e12, 1e-9]], [[-2, 1], [1, -4]]]
)
def test_every_corner_lies_within_the_frame(values):
    made = chart(
        [str(n) for n in range(len(values[0]))], [ChartSeries(str(n), each) for n, each in enumerate(values)], "$"
    )
    corners = [corner for area in made.areas for corner in _corners(area)]

    assert all(0 <= x <= WIDTH and EDGE <= y <= HEIGHT - EDGE for x, y in corners)
    assert len({x for x, _ in corners}) > 1


def test_series_stand_on_each_other_and_the_top_is_their_sum():
    one, other = ChartSeries("one", [1.0, 2.0]), ChartSeries("other", [3.0, 1.0])
    stacked, apart = chart(["a", "b"], [one, other], "$"), chart(["a", "b"], [one, other], "$", stacked=False)

    assert (stacked.top, apart.top) == (4, 3)
    assert _corners(stacked.areas[0])[0] == _corners(stacked.areas[1])[-1]


def test_what_is_less_than_nothing_hangs_below_its_line():
    made = chart(["a", "b"], [ChartSeries("saved", [-1.0, 3.0])], "$")
    (_, low), (_, high), *base = _corners(made.areas[0])

    assert (made.bottom, made.top) == (-1, 3)
    assert (low, high) == (HEIGHT - EDGE, EDGE)
    assert {y for _, y in base} == {made.zero} == {HEIGHT - EDGE - (HEIGHT - 2 * EDGE) / 4}


def test_of_series_that_do_not_stand_on_each_other_each_is_a_line_over_all_points():
    series = [ChartSeries("one", [3.0, 1.0, 2.0]), ChartSeries("other", [3.0, 1.0, 2.0])]
    made = chart(["a", "b", "c"], series, "$", stacked=False)

    assert [x for x, _ in _corners(made.areas[0])] == [0, WIDTH / 2, WIDTH]
    assert not made.stacked


def test_a_chart_of_nothing_has_no_points():
    assert (chart([], [], "$").points, chart([], [], "$").top) == ([], 0)


def test_series_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        chart(["a", "b"], [ChartSeries("one", [1.0])], "$")
