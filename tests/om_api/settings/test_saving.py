"""A file is replaced whole or not at all, and nobody's text is lost under another's."""

import errno
import os
import threading

import pytest

from om_api.domain.errors import SettingsError
from om_api.settings import saving
from om_api.settings.saving import may_be_written, save, text_of
from om_api.settings.stored_layers import version_of


@pytest.fixture
def file(tmp_path):
    return tmp_path / "agents" / "harold" / "memory.yaml"


def test_a_new_file_is_made_with_its_folder_and_one_that_is_there_replaced(file):
    made = save(file, "a: 1\n", "")
    file.chmod(0o640)
    replaced = save(file, "a: é\n", version_of("a: 1\n"))

    assert (made, replaced, text_of(file)) == (True, True, "a: é\n".encode())
    assert file.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in file.parent.iterdir()] == ["memory.yaml"]


def test_what_was_changed_since_it_was_read_stays(file):
    save(file, "a: 1\n", "")
    late = [save(file, "a: 2\n", ""), save(file, None, version_of("other"))]

    assert (late, text_of(file)) == ([False, False], b"a: 1\n")


def test_a_file_is_taken_away(file):
    save(file, "a: 1\n", "")

    assert (save(file, None, version_of("a: 1\n")), text_of(file)) == (True, None)


def test_of_many_who_save_at_once_one_is_first_and_the_others_are_told(file):
    """Catches the moment between a look at the version and the rename."""
    save(file, "n: start\n", "")
    for _ in range(10):
        was, at_once, done = version_of(text_of(file)), threading.Barrier(8), {}

        def go(n, was=was, at_once=at_once, done=done):
            at_once.wait(30)
            done[n] = save(file, f"{was}: {n}\n", was)

        threads = [threading.Thread(target=go, args=(n,)) for n in range(8)]
        [each.start() for each in threads]
        [each.join(30) for each in threads]
        (winner,) = [n for n, saved in done.items() if saved]

        assert text_of(file) == f"{was}: {winner}\n".encode()


@pytest.mark.parametrize("call", ["fsync", "fchmod"])
def test_who_dies_before_the_rename_leaves_what_was_there(file, monkeypatch, call):
    save(file, "a: 1\n", "")
    monkeypatch.setattr(saving.os, call, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save(file, "a: 2\n", version_of("a: 1\n"))

    assert text_of(file) == b"a: 1\n"
    assert [each.name for each in file.parent.iterdir()] == ["memory.yaml"]


def test_what_a_killed_process_left_beside_it_is_read_by_nobody(folder):
    folder.settings("ttl_days: 5")
    folder.agent("harold", "observational_memory: {ttl_days: 6}")
    (folder.path / "agents" / "harold" / ".memory.yaml.0a1b").write_text("observational_memory: {ttl_days: 7}")
    settings = folder.load()

    assert (settings.for_agent("harold").ttl_days, settings.problems) == (6, ())


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_folder_that_takes_no_writes_says_what_to_do_and_stays_as_it_is(file, monkeypatch, number):
    save(file, "a: 1\n", "")
    opened = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number))
        return opened(path, flags, *mode)

    monkeypatch.setattr(saving.os, "open", refuse)
    with pytest.raises(SettingsError, match=f"{os.strerror(number)}; nothing was changed: .*--store"):
        save(file, "a: 2\n", version_of("a: 1\n"))

    assert text_of(file) == b"a: 1\n"


def test_whether_a_file_may_be_written_is_told_before_its_folder_is_there(file, monkeypatch):
    may = may_be_written(file)
    monkeypatch.setattr(saving.os, "access", lambda *_: False)

    assert (may, may_be_written(file)) == (True, False)


def test_a_link_stays_one(file, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("a: 1\n")
    file.parent.mkdir(parents=True)
    file.symlink_to(own)
    save(file, "a: 2\n", version_of("a: 1\n"))

    assert (file.is_symlink(), own.read_text()) == (True, "a: 2\n")
