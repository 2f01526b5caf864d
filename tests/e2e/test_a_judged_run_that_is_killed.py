"""`om bench locomo` in a process of its own, killed while it asks, and started again."""

import json
import subprocess
import sys

from processes import inherited, started
from reading_model import ReadingModel, configured

from om_bench.harness.loading import load
from om_bench.judged.commands import SAMPLES
from om_bench.judged.journal import FILE

QUESTIONS = 11


def command(folder, out, jobs):
    words = [
        "locomo",
        "--model",
        "fake",
        "--judge",
        "fake",
        "--yes",
        "--json",
        "--jobs",
        str(jobs),
        "--out",
        str(folder / out),
    ]
    return [sys.executable, "-c", "from om_api.cli import main; main()", "bench", *words]


def read(_system, prompt):
    """Looks something up, and repeats the turn that was found."""
    found = [line for line in prompt.splitlines() if line.startswith("> [")]
    return found[0] if found else "RECALL: boat money"


def test_a_run_that_was_killed_asks_nothing_again_that_was_answered_and_ends_like_one_that_was_not(
    tmp_path, wait_until
):
    with ReadingModel(read, lambda _system, prompt: "yes" if "Oskar" in prompt else "no", delay=0.05) as server:
        options = {"env": inherited() | {"OM_CONFIG_DIR": str(configured(tmp_path / "config", server.url))}}
        with started(
            command(tmp_path, "broken", 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
        ) as run:
            wait_until(lambda: sum(server.asked("judge").values()) >= 4, "four judgements", seconds=60)
            run.kill()
            run.wait()
        stood = _kept(tmp_path / "broken")
        at_the_kill = len(server.prompts)
        resumed = subprocess.run(command(tmp_path, "broken", 2), capture_output=True, check=True, timeout=90, **options)
        later = server.prompts[at_the_kill:]
        unbroken = subprocess.run(command(tmp_path, "whole", 2), capture_output=True, check=True, timeout=90, **options)

    assert 0 < len(stood["judgement"]) < QUESTIONS
    for role, kind in (("read", "answer"), ("judge", "judgement")):
        again = "\n".join(prompt for each, _, prompt in later if each == role)
        assert [text for text in map(_text, stood[kind]) if text in again] == []
        assert all(
            text in again for text in {*map(_text, _kept(tmp_path / "broken")[kind])} - {*map(_text, stood[kind])}
        )
    assert json.loads(resumed.stdout) == json.loads(unbroken.stdout)
    assert len(_kept(tmp_path / "broken")["judgement"]) == QUESTIONS


def _text(key):
    talk = load(SAMPLES / "locomo.json")[0]
    return (*talk.questions, *talk.unproven)[int(key.partition("#")[2])].text


def _kept(folder):
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    entries = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return {kind: [each["key"] for each in entries if each["type"] == kind] for kind in ("answer", "judgement")}
