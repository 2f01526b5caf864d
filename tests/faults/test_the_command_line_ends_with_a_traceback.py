"""An unknown option in the store's address, and a recording that nests too deeply, end `om` with a traceback."""

import os
import subprocess
import sys

import pytest

_OM = [sys.executable, "-c", "from om_api.cli import main; main()"]


@pytest.mark.parametrize("words", [["--url", "redis://127.0.0.1:1/0?foo=bar", "stats"], ["replay", "deep.jsonl"]])
def test_bad_input_is_answered_in_a_line(tmp_path, words):
    (tmp_path / "deep.jsonl").write_text("[" * 100_000)
    environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(
        [*_OM, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in {2, 3}
