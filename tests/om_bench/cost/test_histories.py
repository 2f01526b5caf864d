"""What is sent without a memory: small examples reckoned by hand."""

from om_bench.cost import histories
from om_bench.cost.wire import Piece, size

ADDED = [[Piece(f"p{n}", 1000)] for n in range(6)]


SYSTEM = histories.prompt(2000)


def sizes(requests):
    return [size(pieces) for pieces in requests]


def test_a_whole_history_grows_and_a_window_slides_or_is_halved():
    assert sizes(histories.whole(SYSTEM, ADDED)) == [3000, 4000, 5000, 6000, 7000, 8000]
    assert sizes(histories.alone(SYSTEM, ADDED)) == [3000] * 6
    assert sizes(histories.sliding(SYSTEM, ADDED, 3000)) == [3000, 4000, 5000, 5000, 5000, 5000]
    assert sizes(histories.by_halves(SYSTEM, ADDED, 4000)) == [3000, 4000, 5000, 6000, 4000, 5000]
