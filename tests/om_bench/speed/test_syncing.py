"""A whole history is timed with the client that knows it and with one that does not, on a store that is left as it was found."""

import pytest

from om_bench.speed import stand as stands
from om_bench.speed import syncing


@pytest.fixture
def stand(private_server_url, monkeypatch):
    monkeypatch.setattr(syncing, "_TALKS", 3)
    with stands.stand(private_server_url) as made:
        yield made


def test_a_history_is_timed_warm_and_cold(stand):
    work = "sync of 400 messages, 2 of them new"
    figures = list(syncing.sync(stand))

    assert [figure.work.removeprefix(work) for figure in figures] == [
        ", p50",
        ", p99",
        ", by a client that never saw it, p50",
        ", by a client that never saw it, p99",
    ]
    assert all(0 < figure.value < 1_000 and figure.unit == "ms" for figure in figures)
    assert stand.bare.dbsize() == 0


def test_what_is_timed_adds_two_messages_and_knows_the_others(stand, monkeypatch):
    seen = []
    monkeypatch.setattr(syncing, "timed", lambda work: seen.append(work()) or 1.0)
    list(syncing.sync(stand))

    synced = [found for found in seen if hasattr(found, "known")]
    assert {(found.added, found.known, found.diverged_at) for found in synced} == {(2, 398, None)}
    assert len(synced) == 6
