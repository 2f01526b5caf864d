from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from om_workers.bench.__main__ import bench


@pytest.mark.parametrize("command", [(), *((name,) for name in bench.commands)], ids=" ".join)
def test_every_help_text_of_a_benchmark_has_examples_to_copy(command):
    text = CliRunner().invoke(bench, [*command, "--help"]).stdout

    assert f"\n    om {' '.join(('bench', *command))}" in text


def test_om_hands_its_words_on_and_answers_with_the_same_exit_code():
    done = subprocess.run(
        [sys.executable, "-c", "from om_api.cli import main; main()", "bench", "speed", "--only", "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "Usage: om bench speed" in done.stderr
