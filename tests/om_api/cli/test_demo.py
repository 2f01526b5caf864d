"""`om demo` shows what it promises, and leaves nothing behind."""

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from processes import inherited

from om_api.cli.group import PLACES

DEMO = [sys.executable, "-c", "from om_api.cli import main; main()", "demo"]


def _of_folder(folder):
    """The processes that know a folder, by their environment or their command line."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder).encode() in (process / "environ").read_bytes() + (process / "cmdline").read_bytes():
                yield process


@pytest.mark.nightly
def test_a_demo_covers_recalls_archives_and_leaves_nothing(tmp_path):
    (here := tmp_path / "here").mkdir()
    (temporary := tmp_path / "tmp").mkdir()
    environ = inherited() | {"TMPDIR": str(temporary), "OM_MODEL": "other"}
    command = [*DEMO, "--speed", "1.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=here, env=environ)
    output = done.stdout
    found = re.findall(r"^ (albert|codie|harold) +(.+?) *$", output, re.MULTILINE)
    rows = {agent: re.split(r" {2,}", cells) for agent, cells in found}
    asked = output.count("asked in ")  # a question, unless the notes hold all that would have been asked
    assert (done.returncode, done.stderr, "BROKEN" in output, "\x1b" in output) == (0, "", False, False)
    assert f"all {265 + asked} messages are covered exactly once" in output
    assert "no breaches" in output
    assert output.count("(Context.recalled):") == output.count("as a tool of the model") == asked
    assert int(re.findall(r"([0-9]+) messages behind notes left Redis", output)[0]) > 100
    assert set(rows) == {"albert", "codie", "harold"}
    assert all(float(cells[5]) > 1.5 for cells in rows.values())  # compression
    assert sum(int(cells[6]) for cells in rows.values()) >= 2  # generations; of whom depends on how fast workers are
    assert set(re.findall(r"^  (?:\S*/)?om (\S+)", output.split("Next, for real:")[1], re.MULTILINE)) <= set(PLACES)
    assert [*here.iterdir(), *temporary.iterdir()] == []
    assert [*_of_folder(temporary)] == []
