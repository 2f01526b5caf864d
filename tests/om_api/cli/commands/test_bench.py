"""`om bench` is a process of its own: its words are handed on, and its exit code is given back."""

import subprocess
import sys


def test_om_hands_its_words_on_and_answers_with_the_same_exit_code():
    done = subprocess.run(
        [sys.executable, "-c", "from om_api.cli import main; main()", "bench", "speed", "--only", "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "Usage: om bench speed" in done.stderr
