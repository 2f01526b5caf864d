"""What pages cost, measured in small: all figures are there, and those that listen have heard something."""

import shutil

from om_bench.speed.measure import as_lines
from om_bench.speed.ui_pages import PagesPlan, measure


def test_pages_of_long_memories_and_open_ones_are_measured(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)  # a browser takes its time
    found = measure(PagesPlan(messages=200, open=3, rate=5, seconds=2), None)
    single, hundred, opened = found.figures

    assert "200 messages in 1 threads" in single.work
    assert "100 threads" in hundred.work
    assert single.value > 0
    assert hundred.value > 0
    assert int(opened.reference.split()[0].replace(",", "")) > 0
    assert "open pages" in "\n".join(as_lines(found))
