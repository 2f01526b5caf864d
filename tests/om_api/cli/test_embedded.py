"""The embedded store starts, keeps what it is to keep, and is gone afterwards."""

import os
import signal
from pathlib import Path

import pytest
import redis
from ports import reserve_port
from world import wait_until

from om_api.cli.embedded import HOST, LOG, Embedded, is_free
from om_api.domain.errors import StoreError


def gone(pid):
    """No such process, or one that has ended with all its threads (a file is theirs too) and whose parent has not noticed."""
    try:
        os.kill(pid, 0)
        of = Path(f"/proc/{pid}")
        ended = of.exists() and (of / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return ended and len(list((of / "task").iterdir())) == 1
    except (ProcessLookupError, FileNotFoundError):
        return True


def ask(store, *command):
    with redis.Redis.from_url(store.url, decode_responses=True) as client:
        return client.execute_command(*command)


def setting(store, name):
    return ask(store, "CONFIG", "GET", name)[name]


def test_it_answers_on_this_machine_only_keeps_nothing_without_a_folder_and_frees_its_port():
    with Embedded(port=(port := reserve_port()), options=("--maxclients", "77")) as store:
        assert (ask(store, "SET", "a", "1"), ask(store, "GET", "a")) == (True, "1")
        assert (store.url, setting(store, "bind")) == (f"redis://{HOST}:{port}/0", HOST)
        assert (setting(store, "maxmemory-policy"), setting(store, "maxclients")) == ("noeviction", "77")
        folder, pid = Path(setting(store, "dir")), store.pid
        assert (setting(store, "appendonly"), setting(store, "save")) == ("no", "")
        with pytest.raises(StoreError, match=f"port {port} is taken"):
            Embedded(port=port).__enter__()
    assert (gone(pid), is_free(port), store.alive, folder.exists()) == (True, True, False, False)


def test_what_was_written_survives_a_kill_and_a_folder_serves_one_store_at_a_time(tmp_path):
    folder = tmp_path / "a" / "b"
    with Embedded(folder) as store:
        assert folder.stat().st_mode & 0o077 == 0
        with pytest.raises(StoreError, match=f"in use by process {os.getpid()}"):
            Embedded(folder).__enter__()
        ask(store, "SET", "a", "1")
        assert (setting(store, "appendonly"), setting(store, "appendfsync")) == ("yes", "everysec")
        os.kill(store.pid, signal.SIGKILL)
        wait_until(lambda: not store.alive, "the kill is noticed")
        store.start()
        assert ask(store, "GET", "a") == "1"
        os.kill(store.pid, signal.SIGKILL)
    with Embedded(folder) as store:
        assert ask(store, "GET", "a") == "1"


def test_a_folder_that_cannot_be_used_says_why(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot hold the data"):
        Embedded(tmp_path / "file").__enter__()
    (tmp_path / "appendonlydir").write_text("not a folder")
    with pytest.raises(StoreError, match=r"its log ends:\n(.*\n)*.*appendonlydir"):
        Embedded(tmp_path).__enter__()
    assert (tmp_path / LOG).exists()
