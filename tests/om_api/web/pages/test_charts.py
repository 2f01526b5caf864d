"""Charts as a template draws them: within their frame, stacked, and with something to see of a single point."""

from om_api.web.pages.charts import EDGE, HEIGHT, WIDTH, ChartSeries, chart


def _corners(area):
    return [tuple(map(float, each.split(","))) for each in area.corners.split()]


def test_every_corner_lies_within_the_frame():
    for values in [[[1, 2, 3], [4, 0, 1]], [[0, 0]], [[5]], [[1e12, 1e-9]], [[-2, 1], [1, -4]]]:
        series = [ChartSeries(str(n), each) for n, each in enumerate(values)]
        made = chart([str(n) for n in range(len(values[0]))], series, "$")
        corners = [corner for area in made.areas for corner in _corners(area)]

        assert all(0 <= x <= WIDTH and EDGE <= y <= HEIGHT - EDGE for x, y in corners), values
        assert len({x for x, _ in corners}) > 1, values
