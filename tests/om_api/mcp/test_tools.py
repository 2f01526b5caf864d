"""What each MCP tool, prompt and resource answers."""

import re

import pytest
from hostile import HOSTILE, tags
from mcp import MCPError

from om_api import load_settings
from om_api.mcp.prompt import GUIDANCE

HELLO = {"role": "user", "content": "My flight is on Friday."}
NOTED = {"role": "assistant", "content": "Noted."}


def test_what_is_added_is_read_and_a_call_that_is_repeated_keeps_nothing_twice(host, world):
    new = host("get_context", thread_id="t-1")
    assert new == ("Nothing is remembered of harold yet, nor was anything said in thread t-1.", False)
    added, again = (host("add_messages", thread_id="t-1", messages=[HELLO, NOTED]).text for _ in range(2))
    context = host("get_context", thread_id="t-1").text

    assert (added, again[:26]) == ("Kept in thread t-1: 2 of 2 messages.", "Kept in thread t-1: 0 of 2")
    assert [turn in context for turn in ("user: My flight is on Friday.", "assistant: Noted.")] == [True] * 2
    host("add_messages", thread_id="t-1", messages=[HELLO])  # which is said again later
    assert len(world.om.messages("harold", "t-1")) == 3
    answers = host.at_once(*[("add_messages", {"thread_id": "t-2", "messages": [HELLO]})] * 10)
    assert not any(answer.failed for answer in answers)
    assert [message.content for message in world.om.messages("harold", "t-2")] == [HELLO["content"]]
    assert [line.split(":")[0] for line in host("list_threads").text.splitlines()] == ["t-1", "t-2"]
    world.om.set_thread("harold", "t-2", memory="off")
    assert host("list_threads").text.splitlines()[1].endswith("; memory: off")
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


@pytest.fixture
def names(noted, host):
    """The ids of harold's observations, the newest first."""
    found = re.findall(r"Observation (\w+), thread", host("observations", max_tokens=100_000).text)
    assert len(found) > 2
    return found


def test_notes_are_listed_newest_first_with_their_days_page_by_page(noted, host, names):
    text = host("observations", max_tokens=100_000).text
    assert names == [each.id for each in reversed(noted.om.observations("harold"))]
    assert re.search(r"Observation \w+, thread t-\d, \w{3} \d{4}-\d\d-\d\d \d\d:\d\d to ", text)
    pages, cursor = [], ""
    while cursor is not None:
        page, _, rest = host("observations", max_tokens=400, cursor=cursor).text.partition(" again with cursor '")
        pages.append(page)
        cursor = rest.rstrip("'.") or None
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


# -- shared with another memory --------------------------------------------------------------------------------------------


def test_a_note_stands_in_the_other_memory_once_where_the_key_is_bound_to_it(world, having):
    host = having("writer", "harold", "albert")
    said = {"resource_id": "harold", "share_with": "albert", "text": "We ship in May."}
    first, again = host("share_note", **said), host("share_note", **said)
    refused = having("writer", "harold")("share_note", share_with="albert", text="We ship in June.")
    (note,) = world.om.observations("albert")

    assert ("now" in first.text, "already" in again.text) == (True, True)
    assert ("We ship in May." in note.text, note.origin, note.by, note.thread_id) == (True, "added", "harold", "harold")
    assert (refused.failed, "share_with can be no other" in refused.text) == (True, True)


def test_others_notes_are_read_where_the_key_is_bound_to_them(world, having):
    world.say("the vault is blue", resource="albert")
    world.om.force_observe("t-1", "albert")
    world.settle()
    for bound, refused in ((("harold", "albert"), False), (("harold",), True)):
        host, own = having("reader", *bound), {"resource_id": "harold", "also": ["albert"]}
        for answer in (host("get_context", thread_id="t-1", **own), host("recall", query="vault", **own)):
            assert (answer.failed, "vault is blue" in answer.text) == (refused, not refused), bound


def test_a_message_is_found_with_its_thread_and_date_and_read_between_its_turns(host, world):
    names = world.say(*(f"line {n}" for n in range(20)), thread="t-7")
    found = host("recall", query='"line 10"').text
    assert found.startswith("Thread t-7, message ")
    assert re.search(r"\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}\]", found)

    text = host("browse", message_id=names[10], before=2, after=1).text
    assert next(line for line in text.splitlines() if line.startswith("> ")).endswith(": line 10")
    assert re.findall(r": line (\d+)", text) == ["8", "9", "10", "11"]
    assert f"Earlier turns: browse {names[8]} with after 0." in text
    assert f"Later turns: browse {names[11]} with before 0." in text


def test_a_memory_says_how_full_it_is_and_what_holds_it_up(noted, host):
    noted.om.pause("harold")
    text = host("status").text

    assert text.startswith("harold, ")
    assert "Asia/Tokyo. Threads: 2." in text
    assert "at 1,000 they become observations" in text
    assert "Notes: 0 " not in text
    assert "It is paused: nothing is noted until om resume." in text


def test_whose_memories_there_are(noted, anybody, having):
    noted.say("hello", resource="berta")
    noted.settle()

    assert anybody("status").text.splitlines() == ["berta", "harold"]
    assert having("reader", "harold", "albert")("status").text.splitlines() == ["albert", "harold"]


def text_of(host, **given):
    async def asked(client):
        return await client.get_prompt("use_memory", given)

    (message,) = host.ask(asked).messages
    return message.content.text


def test_what_is_known_of_the_conversation_is_said(host, anybody):
    assert text_of(host, thread_id="t-9").endswith(
        "Use thread_id 't-9': the conversation that begins or goes on.\nUse resource_id 'harold': whose memory it is."
    )
    assert text_of(anybody) == f"{GUIDANCE}"


def test_what_cannot_be_asked_is_refused(host):
    async def asked(client):
        for name, given, why in [
            ("use_memory", {"thread_id": "x" * 201}, "is not an id"),
            ("use_memory", {"thread": "t"}, "permitted are resource_id, thread_id"),
            ("other", {}, "use_memory is the one"),
        ]:
            with pytest.raises(MCPError, match=why):
                await client.get_prompt(name, given)

    host.ask(asked)


def read(host, uri):
    async def asked(client):
        (content,) = (await client.read_resource(uri)).contents
        return content.text

    return host.ask(asked)


def listed(host):
    async def asked(client):
        found, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [resource.uri for resource in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                return found

    return host.ask(asked)


def test_ids_are_written_into_an_address_as_the_template_has_them(anybody, world, having):
    world.say("hello", resource="me@home", thread="a:b+c")
    host = having("reader", "me@home")

    assert listed(host) == ["om://me%40home/threads/a%3Ab%2Bc/context"]
    assert "hello" in read(host, *listed(host))
    assert "hello" in read(anybody, "om://me@home/threads/a:b+c/context")


def test_contexts_are_listed_page_by_page(host, world, having, anybody):
    for n in range(110):
        world.say("hello", thread=f"t-{n:03}")

    assert listed(host) == [f"om://harold/threads/t-{n:03}/context" for n in range(110)]
    assert listed(having("reader", "harold", thread="t-9")) == ["om://harold/threads/t-9/context"]
    assert listed(anybody) == []


def test_what_cannot_be_read_is_told_with_what_to_do(having):
    away = {"OM_REDIS_URL": "redis://u:secret@127.0.0.1:1/0"}
    for uri, why in [
        ("om://harold", "no address of a context: use om://{resource_id}/threads/{thread_id}/context"),
        (f"om://harold/threads/{'x' * 201}/context", "is not an id"),
        ("om://harold/threads/../context", "is not an id"),
        ("file:///etc/passwd", "no address of a context"),
        ("om://berta/threads/t-1/context", "bound to harold, not to berta"),
        ("om://harold/threads/t-1/context", "could not be reached just now"),
    ]:
        host = having("reader", "harold")
        host.settings = load_settings(None, away) if "reached" in why else host.settings
        with pytest.raises(BaseException) as caught:
            read(host, uri)
        told = caught.value
        while isinstance(told, BaseExceptionGroup):
            (told,) = told.exceptions
        assert isinstance(told, MCPError)
        assert (why in str(told), "secret" in str(told)) == (True, False), uri
