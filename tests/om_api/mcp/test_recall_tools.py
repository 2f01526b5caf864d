"""Looking up what was said: by its words, and around a message."""

import re

from world import World

from om_api.context.recall_tool import recall_tool
from om_api.domain.tokens import estimate

DATED = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}\]")


def test_what_was_said_is_found_with_its_thread_and_date(host, world):
    world.say("My passport lies in the blue drawer.", thread="t-7")
    answer = host("recall", query='passport "blue drawer"')

    assert answer.text.startswith("Thread t-7, message ")
    assert DATED.search(answer.text)


def test_a_model_is_told_what_our_own_tool_tells_it(host):
    ours, theirs = recall_tool("anthropic"), host.tools()["recall"]

    assert theirs.description == ours["description"]
    for name, each in ours["input_schema"]["properties"].items():
        if name != "thread_id":
            assert theirs.input_schema["properties"][name]["description"] == each["description"]


def test_nothing_found_is_no_failure_and_says_what_to_try(host, world):
    world.say("hello")
    answer = host("recall", query="zebra")

    assert not answer.failed
    assert "Nothing was found for 'zebra'" in answer.text


def test_what_cannot_be_asked_is_told(host):
    assert host("recall", query="x", role="robot").text == "role: Input should be 'user', 'assistant' or 'tool'"
    day = host("recall", query="flight", after="yesterdayish")

    assert day.failed
    assert "after" in day.text


def test_hits_come_page_by_page(host, world):
    for n in range(15):
        world.say(f"parcel number {n}", thread=f"t-{n}")
    seen, offset = set[str](), 0
    while True:
        text = host("recall", query="parcel", offset=offset, max_tokens=400).text
        assert estimate(text) <= 400
        seen |= {*re.findall(r"Thread (t-\d+),", text)}
        more = re.search(r"ask again with offset (\d+)", text)
        if more is None:
            break
        offset = int(more[1])

    assert seen == {f"t-{n}" for n in range(15)}


def test_a_message_is_read_between_its_turns(host, world):
    names = world.say(*(f"line {n}" for n in range(20)))
    text = host("browse", message_id=names[10], before=2, after=1).text

    assert next(line for line in text.splitlines() if line.startswith("> ")).endswith(": line 10")
    assert re.findall(r": line (\d+)", text) == ["8", "9", "10", "11"]
    assert f"Earlier turns: browse {names[8]} with after 0." in text
    assert f"Later turns: browse {names[11]} with before 0." in text


def test_a_long_message_is_read_page_by_page(host, world, read_on):
    (name,) = world.say(" ".join(f"word{n}" for n in range(3_000)))
    pages = read_on(host, "browse", message_id=name, max_tokens=1_000)

    assert len(pages) > 2
    assert re.findall(r"word(\d+)(?!\d)", re.sub(r"\n\n|\t…", "", "".join(pages))) == [str(n) for n in range(3_000)]


def test_a_message_that_is_not_there_is_told(host, world):
    world.say("hello")
    answer = host("browse", message_id="m-404", thread_id="t-1")

    assert answer.failed
    assert answer.text == (
        "harold's thread t-1 keeps no message m-404: check the id, or find it by its words with recall"
    )


def test_a_group_of_notes_is_read_by_its_name(host, world):
    world.om.add_line("the harbour opens at nine", "harold", "t-1")
    house = World(world.client, world.prefix, reflection__mode="archive")
    house.om.force_reflect("harold")
    house.settle()
    (group,) = house.om.groups("harold")

    assert "the harbour opens at nine" in host("recall", query="-", group=group.id).text
    assert f"[{group.id}] 1 note: the harbour opens at nine" in host("recall", query="-", group="all").text
    assert "keeps no group" in host("recall", query="-", group="aaaaaaaa").text
