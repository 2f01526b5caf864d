"""A tool as hosts list it."""

import pytest

from om_api.mcp.toolbox import TOOLS


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_described_in_few_words(name):
    listed = TOOLS[name].listed(())

    assert (listed.name, listed.title) == (name, TOOLS[name].title)
    assert 40 < len(listed.description) < 320
    assert "\n" not in listed.description


def test_what_is_said_already_is_not_in_the_schema():
    listed = TOOLS["get_context"].listed({"resource_id": "harold", "thread_id": "t-1"})

    assert set(listed.input_schema["properties"]) == {"also", "model", "max_tokens", "cursor"}
