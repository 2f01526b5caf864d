import json

import pytest
from benches import LOCOMO, memory


def test_the_pipeline_runs_as_it_is_set():
    found = json.loads(
        memory("--json", "--set", "message_threshold=2000", "--set", "reflection.drain=false", LOCOMO).output
    )

    assert [run["settings"] for run in found["online"]] == [["message_threshold=2000", "reflection.drain=false"]]


def test_a_setting_that_does_not_exist_is_named():
    assert "OM_MESSAGE_TRESHOLD" in memory("--set", "message_treshold=2000", LOCOMO).output


@pytest.mark.parametrize("setting", ["buffer_tokens", "=4", "buffer_tokens="])
def test_what_is_no_setting_is_refused(setting):
    found = memory("--set", setting, LOCOMO)

    assert (found.exit_code, "is not NAME=VALUE" in found.output) == (2, True)
