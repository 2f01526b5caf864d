import pytest

from om_bench.judged.scores import f1, wilson


def test_the_bounds_of_a_score_are_wilsons():
    low, high = wilson(0.8, 100)

    assert (round(low, 4), round(high, 4)) == (0.7112, 0.8666)
    assert wilson(0.0, 0) == (0.0, 1.0)
    assert wilson(1.0, 3)[1] == 1.0
    assert wilson(0.0, 3)[0] == 0.0


def test_words_are_compared_as_locomo_does():
    for answer, right, kind, score in [
        ("a greyhound", "the greyhounds", "category 4", 1.0),
        ("She adopted a greyhound", "a greyhound", "category 4", 0.5),
        ("a cat", "a greyhound", "category 4", 0.0),
        ("welding, ceramics", "ceramics, welding", "category 1", 1.0),
        ("welding", "ceramics, welding", "category 1", 0.5),
        ("likely yes", "Likely yes; she said so", "category 3", 1.0),
        ("", "a greyhound", "category 4", 0.0),
    ]:
        assert f1(answer, right, kind) == pytest.approx(score), (answer, right)
