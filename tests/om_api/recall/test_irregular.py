"""Forms that no ending tells."""

from om_api.recall.analysis import analyse
from om_api.recall.irregular import REGULAR


def test_a_form_is_found_by_its_base():
    assert REGULAR["bought"] == "buy"
    assert analyse("she bought").terms == analyse("she buys").terms
    assert analyse("the children").terms == analyse("the child").terms


def test_no_base_is_a_form_of_another():
    assert REGULAR.keys().isdisjoint(REGULAR.values())
