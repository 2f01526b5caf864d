"""Notes over MCP: listed, traced to what was said, and forgotten."""

import re

import pytest


@pytest.fixture
def names(noted, host):
    """The ids of harold's observations, the newest first."""
    found = re.findall(r"Observation (\w+), thread", host("observations", max_tokens=100_000).text)
    assert len(found) > 2
    return found


def test_notes_are_listed_newest_first_with_their_days_page_by_page(noted, host, names, read_on):
    text = host("observations", max_tokens=100_000).text
    assert names == [each.id for each in reversed(noted.om.observations("harold"))]
    assert re.search(r"Observation \w+, thread t-\d, \w{3} \d{4}-\d\d-\d\d \d\d:\d\d to ", text)
    pages = read_on(host, "observations", max_tokens=400)
    assert len(pages) > 1
    assert re.findall(r"Observation (\w+), thread", "".join(pages)) == names
    assert "thread t-1," not in host("observations", thread_id="t-0", max_tokens=100_000).text

    said = [message.content for message in noted.om.sources(names[0], "harold")]
    whole = host("sources", observation_id=names[0], max_tokens=100_000).text
    assert [text in whole for text in said] == [True] * len(said)
    answer = host("sources", observation_id=names[0], cursor="nobody")
    assert (answer.failed, "leave it out to begin at the first page" in answer.text) == (True, True)


def test_a_note_is_forgotten_for_good(noted, host, names):
    first = host("forget", observation_id=names[0])
    assert first.text == f"Observation {names[0]} and the messages behind it are removed for good."
    assert names[0] not in [each.id for each in noted.om.observations("harold")]
    for tool, name in (("forget", names[0]), ("sources", "nope"), ("forget", "nope")):
        answer = host(tool, observation_id=name)
        told = f"harold has no observation {name}, or has no more: observations lists those in force"
        assert (answer.failed, answer.text) == (True, told)
