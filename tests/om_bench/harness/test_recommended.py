from __future__ import annotations

import pytest
from benches import LOCOMO, memory


def test_a_setting_that_does_not_exist_is_named():
    assert "OM_MESSAGE_TRESHOLD" in memory("--set", "message_treshold=2000", LOCOMO).output


@pytest.mark.parametrize("setting", ["buffer_tokens", "=4", "buffer_tokens="])
def test_what_is_no_setting_is_refused(setting):
    found = memory("--set", setting, LOCOMO)

    assert (found.exit_code, "is not NAME=VALUE" in found.output) == (2, True)
