"""A conversation over MCP: what is read, added and listed, and what becomes of a call that is repeated."""

from hostile import HOSTILE, tags

HELLO = {"role": "user", "content": "My flight is on Friday."}
NOTED = {"role": "assistant", "content": "Noted."}


def test_what_is_added_is_read_and_a_call_that_is_repeated_keeps_nothing_twice(host, world):
    new = host("get_context", thread_id="t-1")
    assert new == ("Nothing is remembered of harold yet, nor was anything said in thread t-1.", False)
    added, again = (host("add_messages", thread_id="t-1", messages=[HELLO, NOTED]) for _ in range(2))
    context = host("get_context", thread_id="t-1").text

    assert added.text == "Kept in thread t-1: 2 of 2 messages."
    assert "user: My flight is on Friday." in context
    assert "assistant: Noted." in context
    assert again.text.startswith("Kept in thread t-1: 0 of 2")
    host("add_messages", thread_id="t-1", messages=[HELLO])  # which is said again later
    assert len(world.om.messages("harold", "t-1")) == 3
    answers = host.at_once(*[("add_messages", {"thread_id": "t-2", "messages": [HELLO]})] * 10)
    assert not any(answer.failed for answer in answers)
    assert [message.content for message in world.om.messages("harold", "t-2")] == [HELLO["content"]]
    lines = host("list_threads").text.splitlines()
    assert [line.split(":")[0] for line in lines] == ["t-1", "t-2"]
    assert host("list_threads", cursor="t-99").text == "There is no thread of harold behind this cursor."


def test_ids_are_kept_and_one_that_says_something_else_is_told(host, world):
    host("add_messages", thread_id="t-1", messages=[{**HELLO, "id": "m-1"}])
    same = host("add_messages", thread_id="t-1", messages=[{**HELLO, "id": "m-1"}])
    other = host("add_messages", thread_id="t-1", messages=[{"role": "user", "content": "No.", "id": "m-1"}])

    assert "0 of 1 messages" in same.text
    assert "Not kept: m-1 is the id of a message that says something else." in other.text
    assert [message.id for message in world.om.messages("harold", "t-1")] == ["m-1"]


def test_no_message_closes_a_tag_of_ours(host):
    texts = [f"{text} My flight" for text in HOSTILE[:6]]
    host("add_messages", thread_id="t-1", messages=[{"role": "user", "content": text} for text in texts])
    answers = [host("get_context", thread_id="t-1"), host("recall", query="flight")]

    assert all("My flight" in answer.text for answer in answers)
    assert [tags(answer.text) for answer in answers] == [[], []]
