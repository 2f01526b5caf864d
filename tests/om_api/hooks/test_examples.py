"""There is an example for each point, with the fields that its hooks are given."""

from typing import get_args

from om_api.domain.webhooks.hook import Point
from om_api.hooks.examples import EXAMPLES


def test_each_point_has_one_that_names_nobody():
    assert set(EXAMPLES) == set(get_args(Point))
    assert {each["resource"] for each in EXAMPLES.values()} == {"example"}
