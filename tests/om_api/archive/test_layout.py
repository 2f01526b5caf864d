"""Laying out: by several processes at once, and of databases that are of another version or of somebody else."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from archived import messages

import om_api.archive
from om_api.archive.opening import open_archive
from om_api.archive.schema import VERSIONS
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
    said = [each.communicate(timeout=60)[1] for each in started]

    assert said == [""] * 4
    assert [each.returncode for each in started] == [0] * 4


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


def test_one_of_a_newer_version_is_left_to_newer_processes(archive, url, sql):
    sql("UPDATE om_version SET version_num = '9999'")
    other = open_archive(url)
    for asked in (other.check, other.prepare, other.upgrade, lambda: other.names("harold")):
        with pytest.raises(ArchiveError, match=r"its schema is 9999, this process knows 0001: upgrade this process$"):
            asked()
    other.close()


def test_one_of_an_older_version_is_to_be_upgraded(archive, url, sql, monkeypatch):
    monkeypatch.setattr("om_api.archive.layout.VERSIONS", ("0000", "0001"))
    sql("UPDATE om_version SET version_num = '0000'")
    other = open_archive(url)
    for asked in (other.check, other.prepare, lambda: other.names("harold")):
        with pytest.raises(ArchiveError, match="its schema is 0000, this process needs 0001: run `om archive upgrade`"):
            asked()
    other.close()


def test_a_check_is_made_once_and_again_after_an_error(archive, sql):
    archive.check()
    sql("UPDATE om_version SET version_num = '9999'")
    archive.check()

    assert archive.names("harold") == set()
    with pytest.raises(ArchiveError, match="no finite number"):
        archive.write([messages()._replace(members=((b"", float("nan")),))], {})
    sql("ALTER TABLE om_fences RENAME TO om_gone")
    with pytest.raises(ArchiveError, match="others than ours: run `om archive upgrade`"):
        archive.fences(["harold"])
    with pytest.raises(ArchiveError, match="upgrade this process"):
        archive.fences(["harold"])


def test_the_versions_are_those_of_the_migrations():
    config = Config()
    config.set_main_option("script_location", str(Path(om_api.archive.__file__).with_name("migrations")))
    found = ScriptDirectory.from_config(config)

    assert [script.revision for script in found.walk_revisions()][::-1] == list(VERSIONS)
