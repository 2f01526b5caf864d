"""The embedded store starts, keeps what it is to keep, and is gone afterwards."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from ports import reserve_port
from processes import started

from om_api.cli.embedded import HOST, LOG, Embedded, hold, is_free
from om_api.domain.errors import StoreError

PARENT = """
import sys, time
from pathlib import Path
from om_api.cli.embedded import Embedded
with Embedded(Path(sys.argv[1])) as store:
    print(store.pid, flush=True)
    time.sleep(60)
"""


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


def test_it_answers_at_its_url_on_this_machine_only():
    with Embedded() as store:
        assert ask(store, "SET", "a", "1") is True
        assert ask(store, "GET", "a") == "1"
        assert setting(store, "bind") == HOST


def test_a_full_memory_refuses_and_never_forgets():
    with Embedded() as store:
        assert setting(store, "maxmemory-policy") == "noeviction"


def test_without_a_folder_nothing_is_kept():
    with Embedded() as store:
        folder = Path(setting(store, "dir"))
        assert (setting(store, "appendonly"), setting(store, "save")) == ("no", "")

    assert not folder.exists()


def test_stopping_leaves_no_process_and_frees_the_port():
    with Embedded() as store:
        pid, port = store.pid, store.port

    assert gone(pid)
    assert is_free(port)
    assert not store.alive


def test_an_error_inside_the_block_stops_it_too():
    store = Embedded()
    with pytest.raises(KeyError), store:
        raise KeyError

    assert is_free(store.port)


def test_what_was_written_survives_a_kill(tmp_path):
    with Embedded(tmp_path) as store:
        ask(store, "SET", "a", "1")
        assert (setting(store, "appendonly"), setting(store, "appendfsync")) == ("yes", "everysec")
        os.kill(store.pid, signal.SIGKILL)

    with Embedded(tmp_path) as store:
        assert ask(store, "GET", "a") == "1"


def test_a_store_that_died_can_be_started_again(tmp_path, wait_until):
    with Embedded(tmp_path) as store:
        ask(store, "SET", "a", "1")
        os.kill(store.pid, signal.SIGKILL)
        wait_until(lambda: not store.alive, "the kill is noticed")
        store.start()

        assert ask(store, "GET", "a") == "1"


def test_a_folder_serves_one_store_at_a_time(tmp_path):
    with Embedded(tmp_path), pytest.raises(StoreError, match=f"in use by process {os.getpid()}"):
        Embedded(tmp_path).__enter__()


def test_a_folder_is_free_again_afterwards(tmp_path):
    with hold(tmp_path):
        pass

    with Embedded(tmp_path) as store:
        assert store.alive


def test_a_folder_is_made_for_its_owner_only(tmp_path):
    with Embedded(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match="cannot hold the data"):
        Embedded(tmp_path / "file").__enter__()


def test_a_port_that_is_taken_is_named():
    with Embedded() as store, pytest.raises(StoreError, match=f"port {store.port} is taken"):
        Embedded(port=store.port).__enter__()


def test_a_store_that_cannot_start_says_what_its_log_says(tmp_path):
    (tmp_path / "appendonlydir").write_text("not a folder")

    with pytest.raises(StoreError, match=r"its log ends:\n(.*\n)*.*appendonlydir"):
        Embedded(tmp_path).__enter__()
    assert (tmp_path / LOG).exists()


def test_the_port_asked_for_is_taken():
    port = reserve_port()

    with Embedded(port=port) as store:
        assert store.url == f"redis://{HOST}:{port}/0"


def test_options_of_the_servers_own_are_passed_on_to_it():
    with Embedded(options=("--maxclients", "77")) as store, redis.Redis.from_url(store.url) as client:
        assert client.config_get("maxclients")["maxclients"] == "77"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_it_ends_with_its_parent_however_that_ends(tmp_path, how, wait_until):
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        pid = int(parent.stdout.readline())
        parent.send_signal(how)

    wait_until(lambda: gone(pid), "the server ends with its parent")
    with Embedded(tmp_path) as store:
        assert store.alive
