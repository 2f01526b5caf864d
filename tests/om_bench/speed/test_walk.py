from contextlib import contextmanager

from provider_models import close

from om_bench.harness.pipeline import pipeline
from om_bench.speed import walk
from om_bench.speed.walk import Walk, as_lines


@contextmanager
def _closed(url, changed):
    """The same, with no connection to the model left to who comes next."""
    with pipeline(url, changed) as running:
        yield running
        close(running.services.registry.model_for("thinking", 0))


def test_a_push_a_warm_context_and_a_sync_are_one_round_trip_each(monkeypatch):
    monkeypatch.setattr(walk, "pipeline", _closed)
    push, context, warm, cold, chunk, reflection = walk.measure(None)

    assert (push.work, push.trips, context.work, context.trips) == ("push", 1, "warm context", 1)
    assert (warm.work, warm.trips, cold.trips) == ("sync of 400 messages, 2 of them new", 1, 1)
    assert warm.calls < cold.calls
    assert chunk.calls > push.calls > push.depth > 1
    assert chunk.trips > 1 < reflection.trips


def test_a_walk_is_a_row():
    made = Walk(work="push", calls=1_234, files=13, depth=14, trips=1, waiting=0)

    assert list(as_lines([made]))[-1] == "| push | 1,234 | 13 | 14 | 1 | 0 |"
