from __future__ import annotations

import pytest

from om_api import Message, StoreError
from om_api.cli.embedded import free_port
from om_bench.speed.stand import stand


def test_a_stand_is_a_store_of_its_own_with_our_client_and_workers_on_it():
    with stand(None) as made:
        said = [Message(role="user", content="x" * 400, tokens=9_000, thread_id="t", resource_id="r") for _ in range(5)]
        made.running.push(*said)

        assert made.om.stats("r").chunks + len(made.om.observations("r")) > 0
        assert all(key.startswith(b"om-bench:") for key in made.bare.scan_iter("*r*messages*"))


def test_a_store_that_is_away_is_said_before_anything_is_measured():
    with pytest.raises(StoreError), stand(f"redis://127.0.0.1:{free_port()}/0"):
        pytest.fail("stood")
