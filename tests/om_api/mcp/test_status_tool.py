"""How a memory is, and whose there are, as far as the key may know."""


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


def test_a_new_memory_is_no_failure(host):
    assert host("status") == ("Nothing is kept of harold yet, or all of it was cleared. Check the name.", False)
