"""Snapshots of Redis are restored as docs/operations.md says."""

import pytest
from servers import BINARIES, Server
from world import wait_until

pytestmark = pytest.mark.nightly


@pytest.fixture(params=sorted(BINARIES))
def start(request, tmp_path):
    """A server on the test's folder while a block runs, with `appendonly` yes or no."""
    return lambda appendonly: Server(tmp_path, "--appendonly", appendonly, binary=BINARIES[request.param])


def test_a_snapshot_beside_which_append_only_files_begin_is_not_read(start):
    with start("no") as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with start("yes") as server, server.client() as client:
        assert client.dbsize() == 0


def test_a_snapshot_is_restored_as_is_said(start):
    with start("no") as server, server.client() as client:
        client.set("kept", 1)
        client.save()
    with start("no") as server, server.client() as client:
        client.config_set("appendonly", "yes")
        wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"], "the rewrite")
    with start("yes") as server, server.client() as client:
        assert client.get("kept") == b"1"
