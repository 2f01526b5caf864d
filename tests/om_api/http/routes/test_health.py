"""Whether a process lives, and whether it can do its work."""

from __future__ import annotations


def test_a_process_says_that_it_lives_and_that_it_is_ready(app):
    assert [app.get(path).json() for path in ("/healthz", "/readyz")] == [{"status": "alive"}, {"status": "ready"}]
