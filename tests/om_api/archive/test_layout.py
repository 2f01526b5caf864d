"""Laying out: by several processes at once, and of databases that are of another version or of somebody else."""

import subprocess
import sys
from pathlib import Path

import pytest
from archived import messages

from om_api.archive.opening import open_archive
from om_api.domain.errors import ArchiveError

PREPARE = """
import sys
from om_api.archive.opening import open_archive
archive = open_archive(sys.argv[1], 20.0)
print("ready", flush=True)
sys.stdin.readline()
archive.prepare()
archive.check()
archive.close()
"""


@pytest.mark.nightly
def test_several_processes_lay_it_out_at_once(url):
    command = [sys.executable, "-W", "error", "-c", PREPARE, url]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for each in started:
        assert each.stdout.readline() == "ready\n"
    for each in started:
        each.stdin.write("go\n")
        each.stdin.flush()

    assert [(each.communicate(timeout=60)[1], each.returncode) for each in started] == [("", 0)] * 4


def test_what_was_not_laid_out_says_so_until_it_is(url):
    archive = open_archive(url)
    if url.startswith("sqlite"):
        with pytest.raises(ArchiveError, match="its file cannot be opened: bring it back"):
            archive.check()
        Path(url.removeprefix("sqlite:///")).touch()
    with pytest.raises(ArchiveError, match="it has no archive's tables: run `om archive upgrade`"):
        archive.write([messages()], {})
    archive.upgrade()

    assert archive.write([messages()], {}) == {("harold", "source:c1"): 1}
    archive.close()


def test_one_of_another_version_says_what_to_upgrade(archive, url, sql, monkeypatch):
    sql("UPDATE om_version SET version_num = '9999'")
    other = open_archive(url)
    for asked in (other.check, other.prepare, other.upgrade, lambda: other.names("harold")):
        with pytest.raises(ArchiveError, match=r"its schema is 9999, this process knows 0001: upgrade this process$"):
            asked()
    monkeypatch.setattr("om_api.archive.layout.VERSIONS", ("0000", "0001"))
    sql("UPDATE om_version SET version_num = '0000'")
    for asked in (other.check, other.prepare, lambda: other.names("harold")):
        with pytest.raises(ArchiveError, match="its schema is 0000, this process needs 0001: run `om archive upgrade`"):
            asked()
    other.close()
