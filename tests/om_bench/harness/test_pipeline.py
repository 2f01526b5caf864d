from __future__ import annotations

import json

from benches import LOCOMO, memory


def test_the_pipeline_runs_as_it_is_set():
    found = json.loads(
        memory("--json", "--set", "message_threshold=2000", "--set", "reflection.drain=false", LOCOMO).output
    )

    assert [run["settings"] for run in found["online"]] == [["message_threshold=2000", "reflection.drain=false"]]
