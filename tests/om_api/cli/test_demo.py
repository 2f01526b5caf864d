"""`om demo` shows what it promises, and leaves nothing behind."""

import re
import secrets
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from processes import inherited

from om_api import load_settings
from om_api.cli.demo import demo_environ, recording
from om_api.cli.group import PLACES

DEMO = [sys.executable, "-c", "from om_api.cli import main; main()", "demo"]


class Place:
    """Where a demo runs: an empty folder, a folder for temporary files, and a mark that its processes carry."""

    def __init__(self, folder):
        (here := folder / "here").mkdir()
        (temporary := folder / "tmp").mkdir()
        self.folders = (here, temporary)
        self.mark = secrets.token_hex(8)
        self.options = {
            "cwd": here,
            "env": inherited() | {"TMPDIR": str(temporary), "MARK": self.mark, "OM_MODEL": "other"},
        }

    def left(self):
        files = [path for folder in self.folders for path in folder.iterdir()]
        return files + [path.parent for path in Path("/proc").glob("[0-9]*/environ") if self._marked(path)]

    def _marked(self, path):
        try:
            command = (path.parent / "cmdline").read_bytes()
            return self.mark.encode() in path.read_bytes() or str(self.folders[1]).encode() in command
        except OSError:
            return False


@pytest.mark.nightly
def test_a_demo_covers_recalls_archives_and_leaves_nothing(tmp_path):
    place = Place(tmp_path)
    command = [*DEMO, "--speed", "1.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, **place.options)
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
    assert place.left() == []


def test_the_recording_goes_on_right_now_with_lowered_thresholds(tmp_path):
    now = datetime(2031, 5, 5, 12, tzinfo=UTC)
    times = [datetime.fromisoformat(message.timestamp) for message in recording(now)]
    settings = load_settings(environ=demo_environ("redis://127.0.0.1:1/0", str(tmp_path)))
    assert timedelta(0) <= now - max(times) < timedelta(weeks=52)
    assert times[0].strftime("%A %H:%M") == "Monday 08:40"
    assert recording(datetime(2025, 11, 20, tzinfo=UTC))[0].timestamp == "2025-10-06T08:40:20+02:00"
    assert (settings.memory.message_threshold, settings.memory.observer_models) == (1000, ("extractive",))
