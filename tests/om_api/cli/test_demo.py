"""`om demo` shows what it promises, in the time it promises, and leaves nothing behind."""

import re
import secrets
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from processes import inherited, started

from om_api import load_settings
from om_api.cli.demo import LOWERED, demo_environ, recording
from om_api.cli.group import PLACES

DEMO = [sys.executable, "-c", "from om_api.cli import main; main()", "demo"]
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


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
        """What is there that was not there before: files, and processes that still run."""
        files = [path for folder in self.folders for path in folder.iterdir()]
        return files + [path.parent for path in Path("/proc").glob("[0-9]*/environ") if self._marked(path)]

    def _marked(self, path):
        try:
            command = (path.parent / "cmdline").read_bytes()
            return self.mark.encode() in path.read_bytes() or str(self.folders[1]).encode() in command
        except OSError:
            return False


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A whole demo: its place, its exit code, its output, its seconds."""
    place, began = Place(tmp_path_factory.mktemp("demo")), time.monotonic()
    command = [*DEMO, "--speed", "1.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **place.options)
    return place, done, time.monotonic() - began


def rows(output):
    """The table of the agents, by name: threads, messages and tokens observed, tokens of two tiers, compression, generation."""
    found = re.findall(r"^ (albert|codie|harold) +(.+?) *$", output, re.MULTILINE)
    return {agent: re.split(r" {2,}", cells) for agent, cells in found}


def test_it_ends_well(shown):
    done = shown[1]

    assert (done.returncode, done.stderr) == (0, "")


def test_every_message_is_covered_exactly_once(shown):
    asked = shown[1].stdout.count("asked in ")  # a question, unless the notes hold all that would have been asked

    assert f"all {265 + asked} messages are covered exactly once" in shown[1].stdout
    assert "no breaches" in shown[1].stdout


def test_a_fact_that_left_the_notes_is_recalled(shown):
    output = shown[1].stdout

    assert "notes no longer hold is recalled by its words" in output or "the notes still hold every fact" in output
    assert output.count("(Context.recalled):") == output.count("as a tool of the model") == output.count("asked in ")
    assert "BROKEN" not in output


def test_the_past_leaves_redis_and_is_recalled_from_the_archive(shown):
    (moved,) = re.findall(r"([0-9]+) messages behind notes left Redis", shown[1].stdout)

    assert int(moved) > 100
    assert "answers from there:" in shown[1].stdout


def test_every_agent_gets_activations_and_there_are_reflections(shown):
    found = rows(shown[1].stdout)
    [*_, last] = re.findall(r"^albert: raw .*", shown[1].stdout, re.MULTILINE)

    assert set(found) == {"albert", "codie", "harold"}
    assert all(int(times) >= 2 for times in re.findall(r" act (\d+)", last))
    assert sum(int(cells[6]) for cells in found.values()) >= 2  # of whom depends on how fast the workers are


def test_memory_takes_less_than_what_it_covers(shown):
    assert all(float(cells[5]) > 1.5 for cells in rows(shown[1].stdout).values())


def test_it_shows_what_an_agent_reads(shown):
    output = shown[1].stdout

    assert re.search(r"What \w+ reads before its next turn in [\w-]+ \([\d,]+ tokens\)", output)
    assert "| <reflection id=" in output or "| <observations id=" in output
    assert "| Today is " in output


def test_it_says_how_stable_the_prefix_was(shown):
    notes, whole = map(int, re.findall(r"(\d+)%", shown[1].stdout.split("stable prefix")[1])[:2])

    assert 0 < whole < notes < 100  # how much depends on how often the workers came to reflect


def test_progress_is_lines_where_no_terminal_is(shown):
    assert (
        len(re.findall(r"^albert: raw [\d,]+/1,000 obs [\d,]+/1,000 act \d+ gen \d", shown[1].stdout, re.MULTILINE))
        >= 3
    )
    assert "\x1b" not in shown[1].stdout


def test_what_to_try_next_exists(shown):
    tried = re.findall(r"^  (?:\S*/)?om (\S+)", shown[1].stdout.split("Next, for real:")[1], re.MULTILINE)

    assert tried[0] == "up"
    assert set(tried) <= set(PLACES)


@linux
def test_nothing_is_left(shown):
    assert shown[0].left() == []


@linux
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_demo_that_is_interrupted_leaves_nothing_either(tmp_path, number, code, wait_until):
    place = Place(tmp_path)
    with started(DEMO, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **place.options) as process:
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(number)
        process.stdout.read()

    assert process.returncode == code
    wait_until(lambda: not place.left(), "nothing left")


# -- its parts ----------------------------------------------------------------------------------------------------------


def test_the_recording_goes_on_right_now_and_keeps_its_weekdays():
    now = datetime(2031, 5, 5, 12, tzinfo=UTC)
    times = [datetime.fromisoformat(message.timestamp) for message in recording(now)]

    assert timedelta(0) <= now - max(times) < timedelta(weeks=52)
    assert times[0].strftime("%A %H:%M") == "Monday 08:40"


def test_the_recording_is_as_it_was_written_within_its_year():
    [first, *_] = recording(datetime(2025, 11, 20, tzinfo=UTC))

    assert first.timestamp == "2025-10-06T08:40:20+02:00"


def test_lowered_thresholds_are_settings(tmp_path):
    settings = load_settings(environ=demo_environ("redis://127.0.0.1:1/0", str(tmp_path)))

    assert set(LOWERED) <= set(demo_environ("", ""))
    assert (settings.memory.message_threshold, settings.memory.observer_models) == (1000, ("extractive",))
