"""Looking up what was said: by its words, and around a message."""

import re

DATED = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d{2}-\d{2} \d{2}:\d{2}\]")


def test_what_was_said_is_found_with_its_thread_and_date(host, world):
    world.say("My passport lies in the blue drawer.", thread="t-7")
    answer = host("recall", query='passport "blue drawer"')

    assert answer.text.startswith("Thread t-7, message ")
    assert DATED.search(answer.text)


def test_a_message_is_read_between_its_turns(host, world):
    names = world.say(*(f"line {n}" for n in range(20)))
    text = host("browse", message_id=names[10], before=2, after=1).text

    assert next(line for line in text.splitlines() if line.startswith("> ")).endswith(": line 10")
    assert re.findall(r": line (\d+)", text) == ["8", "9", "10", "11"]
    assert f"Earlier turns: browse {names[8]} with after 0." in text
    assert f"Later turns: browse {names[11]} with before 0." in text
