"""What a known id takes is weighed, and nothing is left of it but its thread's own few bytes."""

import pytest

from om_api.store.memory.known import tidy
from om_bench.speed import remembering
from om_bench.speed import stand as stands


@pytest.fixture
def stand(private_server_url, monkeypatch):
    monkeypatch.setattr(remembering, "_SIZES", (100, 400))
    monkeypatch.setattr(remembering, "_WEIGHED", 800)
    with stands.stand(private_server_url) as made:
        yield made


def test_a_known_id_takes_at_most_24_bytes_while_its_message_is_kept_and_none_after(stand):
    short, long, expired = remembering.known_ids(stand)

    assert 16 < long.value < short.value <= 24
    assert expired.met
    assert stand.bare.dbsize() == 0


def test_ids_that_outlive_their_sources_are_no_figure(stand, monkeypatch):
    monkeypatch.setattr(remembering, "tidy", lambda keys, scope, threads, _: tidy(keys, scope, threads, 3_600))

    with pytest.raises(RuntimeError, match="of 400 ids 0 were forgotten"):
        list(remembering.known_ids(stand))
