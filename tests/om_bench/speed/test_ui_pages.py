"""What pages cost, measured in small: all figures are there, and those that are open have looked again."""

from om_bench.speed.measure import as_lines
from om_bench.speed.ui_pages import PagesPlan, measure


def test_pages_of_long_memories_and_open_ones_are_measured():
    found = measure(PagesPlan(messages=200, open=3, rate=5, seconds=3), None)
    single, hundred, *opened = found.figures

    assert "200 messages in 1 threads" in single.work
    assert "100 threads" in hundred.work
    assert single.value > 0
    assert hundred.value > 0
    assert [each.value > 0 for each in opened] == [True, True]
    assert all(int(each.reference.split()[0]) > 0 for each in opened), opened
    assert "tables of agents open" in "\n".join(as_lines(found))
