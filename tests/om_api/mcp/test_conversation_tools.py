"""A conversation over MCP: what is read, added and listed, and what becomes of a call that is repeated."""

import pytest
from hostile import HOSTILE, tags
from world import World

from om_api.domain.tokens import estimate

HELLO = {"role": "user", "content": "My flight is on Friday."}
NOTED = {"role": "assistant", "content": "Noted."}


def test_what_is_added_is_read(host):
    added = host("add_messages", thread_id="t-1", messages=[HELLO, NOTED])
    context = host("get_context", thread_id="t-1")

    assert added.text == "Kept in thread t-1: 2 of 2 messages."
    assert "user: My flight is on Friday." in context.text
    assert "assistant: Noted." in context.text


def test_a_new_agent_is_told_that_nothing_is_remembered(host):
    answer = host("get_context", thread_id="t-1")

    assert answer == ("Nothing is remembered of harold yet, nor was anything said in thread t-1.", False)


def test_a_context_for_another_model_takes_along_what_waits_for_the_cache_of_the_one_before(host, client, prefix):
    world = World(client, prefix, prompt_cache__timing="cache", prompt_cache__minimum="0", buffer_activation="0.8")
    world.say(*[f"turn {n}" for n in range(6)])
    world.settle()
    host("get_context", thread_id="t-1", model="claude-sonnet-4-6")
    same = len(world.om.observations("harold"))
    host("get_context", thread_id="t-1", model="gpt-5.2")

    assert (same, len(world.om.observations("harold")) > 0) == (0, True)
    assert host("get_context", thread_id="t-1", model="two words").failed


def test_a_call_without_ids_that_is_repeated_keeps_nothing_twice(host, world):
    first = host("add_messages", thread_id="t-1", messages=[HELLO, NOTED])
    again = host("add_messages", thread_id="t-1", messages=[HELLO, NOTED])

    assert first.text.startswith("Kept in thread t-1: 2 of 2")
    assert again.text.startswith("Kept in thread t-1: 0 of 2")
    assert "not added again" in again.text
    assert len(world.om.messages("harold", "t-1")) == 2


def test_ten_calls_at_once_with_one_message_keep_it_once(host, world):
    answers = host.at_once(*[("add_messages", {"thread_id": "t-1", "messages": [HELLO]})] * 10)

    assert not any(answer.failed for answer in answers)
    assert [message.content for message in world.om.messages("harold", "t-1")] == [HELLO["content"]]


def test_what_is_said_again_later_is_kept_again(host, world):
    for message in (HELLO, NOTED, HELLO):
        host("add_messages", thread_id="t-1", messages=[message])

    assert len(world.om.messages("harold", "t-1")) == 3


def test_what_a_thread_began_with_is_kept_again_when_all_of_it_is_noted(host, world):
    hello = [{"role": "user", "content": "good morning " * 400}]
    for kept in (1, 2, 3):
        host("add_messages", thread_id="t-1", messages=hello)
        world.om.force_observe(resource_id="harold")
        world.settle()
        world.context("t-1")

        assert world.om.messages("harold", "t-1") == []
        assert len(world.covering()) == kept


def test_ids_are_kept_and_one_that_says_something_else_is_told(host, world):
    host("add_messages", thread_id="t-1", messages=[{**HELLO, "id": "m-1"}])
    same = host("add_messages", thread_id="t-1", messages=[{**HELLO, "id": "m-1"}])
    other = host("add_messages", thread_id="t-1", messages=[{"role": "user", "content": "No.", "id": "m-1"}])

    assert "0 of 1 messages" in same.text
    assert "Not kept: m-1 is the id of a message that says something else." in other.text
    assert [message.id for message in world.om.messages("harold", "t-1")] == ["m-1"]


def test_a_message_of_a_megabyte_is_kept_and_read_page_by_page(host):
    host("add_messages", thread_id="t-1", messages=[{"role": "user", "content": "word " * 190_000}])
    page = host("get_context", thread_id="t-1")

    assert estimate(page.text) <= 20_000
    assert "There is more: call this again with cursor" in page.text
    assert host("add_messages", thread_id="t-1", messages=[{"role": "user", "content": "x" * 1_000_001}]).failed


def test_a_long_context_is_read_page_by_page(host, world, read_on):
    world.say(*(f"parcel {n} lies in Oslo" for n in range(60)), tokens=15)
    pages = read_on(host, "get_context", thread_id="t-1", max_tokens=300)
    whole = "".join(pages)

    assert len(pages) > 2
    assert all(estimate(page) <= 300 for page in pages)
    assert [whole.count(f"parcel {n} lies") for n in range(60)] == [1] * 60


def test_a_cursor_of_a_memory_that_changed_is_refused(host, world):
    world.say(*(f"parcel {n} lies in Oslo" for n in range(60)), tokens=15)
    cursor = host("get_context", thread_id="t-1", max_tokens=300).text.rpartition("cursor '")[2].rstrip("'.")
    world.om.clear("harold")
    answer = host("get_context", thread_id="t-1", max_tokens=300, cursor=cursor)

    assert answer.failed
    assert "leave it out to begin at the first page" in answer.text


@pytest.mark.parametrize("text", HOSTILE[:12])
def test_no_message_closes_a_tag_of_ours(host, world: World, text):
    host("add_messages", thread_id="t-1", messages=[{"role": "user", "content": f"{text} My flight"}])
    answers = [host("get_context", thread_id="t-1"), host("recall", query="flight")]

    assert all("My flight" in answer.text for answer in answers)
    assert [tags(answer.text) for answer in answers] == [[], []]


def test_threads_are_listed_by_name_page_by_page(host, world, read_on):
    for n in range(70):
        world.say("hello", thread=f"t-{n:02}")
    pages = read_on(host, "list_threads")
    lines = [line for page in pages for line in page.splitlines() if line.startswith("t-")]

    assert [line.split(":")[0] for line in lines] == [f"t-{n:02}" for n in range(70)]
    assert "1 message (100 tokens) not noted yet; last message " in lines[0]
    assert host("list_threads", cursor="t-99").text == "There is no thread of harold behind this cursor."


def test_a_thread_is_fixed_where_it_is_said(having):
    host = having("writer", "harold", thread="t-1")

    assert host("add_messages", messages=[HELLO]).text == "Kept in thread t-1: 1 of 1 messages."
    assert "thread_id is t-1 here" in host("get_context", thread_id="t-2").text
    assert "My flight" in host("recall", query="flight", thread_id="t-1").text
