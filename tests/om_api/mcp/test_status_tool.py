"""How a memory is, and whose there are, as far as the key may know."""


def test_a_memory_says_how_full_it_is(noted, host):
    text = host("status").text

    assert text.startswith("harold, ")
    assert "Asia/Tokyo. Threads: 2." in text
    assert "at 1,000 they become observations" in text
    assert "Notes: 0 " not in text


def test_what_holds_it_up_is_said(noted, host):
    noted.om.pause("harold")

    assert "It is paused: nothing is noted until om resume." in host("status").text


def test_a_new_memory_is_no_failure(host):
    assert host("status") == ("Nothing is kept of harold yet, or all of it was cleared. Check the name.", False)


def test_whose_memories_there_are(noted, anybody, having):
    noted.say("hello", resource="berta")
    noted.settle()

    assert anybody("status").text.splitlines() == ["berta", "harold"]
    assert having("reader", "harold", "albert")("status").text.splitlines() == ["albert", "harold"]


def test_nobody_is_known_yet(anybody):
    assert anybody("status").text == "No memory is known yet: whoever adds messages first names one."


def test_names_come_page_by_page(world, anybody, read_on):
    for n in range(60):
        world.say("hello", tokens=1_100, resource=f"an-agent-of-a-swarm-{n:03}")
    world.settle()
    names = "".join(read_on(anybody, "status", max_tokens=200)).split()

    assert names == [f"an-agent-of-a-swarm-{n:03}" for n in range(60)]
