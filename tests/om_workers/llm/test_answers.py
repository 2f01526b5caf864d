"""Which answers can be used, and what those took that cannot."""

from __future__ import annotations

import pytest

from om_workers.llm.answers import billed, usable
from om_workers.llm.base import BilledError, Usage


@pytest.mark.parametrize(("text", "cut"), [("", ""), ("half", "ran out of room")])
def test_an_answer_without_notes_is_unusable_also_where_it_is_billed(text, cut):
    with pytest.raises(BilledError) as failed:
        billed("m", lambda: usable("m", text, cut), Usage(input=1))

    assert failed.value.why == "unusable"
