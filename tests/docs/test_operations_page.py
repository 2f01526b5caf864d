"""Snapshots of Redis are restored as docs/operations.md says."""

import pytest
from servers import BINARIES, Server
from world import wait_until


@pytest.mark.nightly
@pytest.mark.parametrize("binary", sorted(BINARIES))
def test_a_snapshot_is_restored_as_is_said(tmp_path, binary):
    without, with_files = (Server(tmp_path, "--appendonly", each, binary=BINARIES[binary]) for each in ("no", "yes"))
    with without as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with without as server, server.client() as client:
        client.config_set("appendonly", "yes")
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "the rewrite")
    with with_files as server, server.client() as client:
        assert client.get("kept") == b"1"
