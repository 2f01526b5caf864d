"""Notes over MCP: listed, traced to what was said, and forgotten."""

import re

import pytest


@pytest.fixture
def names(noted, host):
    """The ids of harold's observations, the newest first."""
    found = re.findall(r"Observation (\w+), thread", host("observations", max_tokens=100_000).text)
    assert len(found) > 2
    return found


def test_notes_are_listed_newest_first_with_their_days(noted, host, names):
    text = host("observations", max_tokens=100_000).text

    assert names == sorted(names, reverse=True)
    assert names == [each.id for each in reversed(noted.om.observations("harold"))]
    assert re.search(r"Observation \w+, thread t-\d, \w{3} \d{4}-\d\d-\d\d \d\d:\d\d to ", text)


def test_notes_come_page_by_page(host, names, read_on):
    pages = read_on(host, "observations", max_tokens=400)

    assert len(pages) > 1
    assert re.findall(r"Observation (\w+), thread", "".join(pages)) == names


def test_notes_of_one_thread(host, names):
    assert "thread t-1," not in host("observations", thread_id="t-0", max_tokens=100_000).text
    assert host("observations", thread_id="t-9").text == "There is no observation of harold in force yet."


def test_what_a_note_was_made_of_comes_page_by_page(noted, host, names, read_on):
    said = [message.content for message in noted.om.sources(names[0], "harold")]
    whole = host("sources", observation_id=names[0], max_tokens=100_000).text
    pages = read_on(host, "sources", observation_id=names[0], max_tokens=200)

    assert [text in whole for text in said] == [True] * len(said)
    assert "".join(pages).count("parcel") >= len(said)


def test_a_cursor_that_is_none_of_the_note_is_refused(noted, host, names):
    answer = host("sources", observation_id=names[0], cursor="nobody")

    assert answer.failed
    assert "leave it out to begin at the first page" in answer.text


def test_a_note_is_forgotten_for_good(noted, host, names):
    first = host("forget", observation_id=names[0])
    again = host("forget", observation_id=names[0])

    assert first.text == f"Observation {names[0]} and the messages behind it are removed for good."
    assert names[0] not in [each.id for each in noted.om.observations("harold")]
    assert again.failed
    assert "observations lists those in force" in again.text


@pytest.mark.parametrize("tool", ["sources", "forget"])
def test_a_note_that_never_was_is_told(noted, host, tool):
    answer = host(tool, observation_id="nope")

    assert answer.failed
    assert answer.text == "harold has no observation nope, or has no more: observations lists those in force"
