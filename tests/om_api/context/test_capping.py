"""What a cap of tokens leaves of a context: everything counts, the oldest goes first, and the beginning stands still."""

import json

from provider_requests import call, result, text
from snapshots import NOON, observed, said, snapshot

from om_api.context import View, build
from om_api.context.stable import PREAMBLE
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.tokens import estimate
from om_api.domain.values import Generation, ThreadState


def words(n, word="word"):
    return " ".join(f"{word}{i}" for i in range(n))


def note(n):
    return observed(n, f"Date: Dec {n % 28 + 1}, 2025\n* 🔴 (14:30) note {n} {words(40)}", activation=f"a{n}")


def full(**fields):
    """A snapshot with much in every place that a context has."""
    lines = [f"* 🔴 (10:00) old fact {n} {words(10)}" for n in range(300)]
    reflection = "\n".join(['<thread id="t1">', "Date: Nov 1, 2025", *lines, "</thread>"])
    given = {
        "observations": [note(n) for n in range(60)],
        "generation": Generation(n=1, text=reflection),
        "thread": ThreadState(id="t1", current_task=words(30, "task")),
        "others": {f"t{n}": [said(words(60), NOON + n, id=f"x{n}")] for n in range(2, 9)},
        "other_counts": dict.fromkeys([f"t{n}" for n in range(2, 9)], 1),
        "messages": [said(words(50), NOON + n, "user" if n % 2 == 0 else "assistant", id=f"m{n}") for n in range(40)],
    }
    return snapshot(**{**given, **fields})


def made(read, cap, **view):
    return build(read, View(**view), estimate, NOON, cap)


def actual(context):
    """The tokens of what is really sent."""
    return estimate(json.dumps(context.as_openai(), ensure_ascii=False))


def test_a_cap_bounds_everything_and_says_what_it_left_out():
    whole = made(full(), None)
    for cap in (200, 1_000, 3_000, 8_000, whole.tokens + 1):
        found = made(full(), cap)
        assert found.tokens <= cap, cap
        assert sum(estimate(block.text) for block in found.blocks) <= cap * 1.1 + 50, cap
        assert found.messages[-1].id == "m39", cap
    assert found.omitted_tokens == {}
    capped = made(full(), 3_000)
    assert capped.omitted_tokens["notes"] > 3_000
    assert "recall finds what they say" in capped.blocks[0].text
    assert "note 59" in capped.text
    assert "note 3 " not in capped.text
    assert capped.omitted == len(full().messages) - len(capped.messages)
    assert "m38" in {message.id for message in capped.messages}


def test_the_beginning_of_a_context_does_not_change_with_each_message():
    read = full()
    beginnings = set()
    for n in range(2, 40, 2):
        found = made(snapshot(**{**fields_of(read), "messages": read.messages[: n + 1]}), 6_000)
        beginnings.add(tuple(block.text for block in found.blocks if block.stable))
    assert len(beginnings) == 1
    grown = snapshot(**{**fields_of(read), "observations": [*read.observations, note(60)]})
    before, after = (made(each, 12_000).system for each in (read, grown))
    assert after.startswith(before[: len(PREAMBLE)])


def fields_of(read: Snapshot):
    return {
        name: getattr(read, name)
        for name in ("observations", "generation", "thread", "others", "other_counts", "messages")
    }


def test_a_message_larger_than_the_cap_is_cut_at_both_ends_and_the_turn_of_the_user_stays():
    large = [*full().messages, said(f"begins {words(20_000)} ends", NOON + 99, id="big")]
    found = made(full(messages=large), 4_000)
    assert found.tokens <= 4_000
    assert found.omitted_tokens["newest"] > 10_000
    sent = found.as_openai()[-2]["content"]
    assert "\nbegins word0" in sent
    assert sent.endswith("ends")
    assert "message big" in sent
    assert found.messages[-1].content == large[-1].content
    assert "note 59" in found.text
    turn = [said("what now?", NOON + 50, id="u"), Message(role="assistant", content=[call("a")], at=NOON + 51, id="c"),
            Message(role="tool", content=[result("a", words(400))], at=NOON + 52, id="r")]  # fmt: skip
    found = made(full(messages=[*full().messages, *turn]), 4_000)
    assert [message.id for message in found.messages][-3:] == ["u", "c", "r"]
    for large in (words(20_000), '{"a": "b"}\n' * 9_000):  # the fields and escapes of JSON count as well
        message = Message(role="tool", content=[result("a", large)], at=NOON, id="r")
        for cap in (300, 1_000, 3_000):
            assert made(snapshot(messages=[message]), cap).tokens <= cap, (large[:9], cap)


def test_a_tools_result_is_capped_in_every_form_and_stays_whole_in_the_messages():
    for given in (
        words(50_000),
        {"rows": [words(10)] * 5_000},
        [text(words(50_000)), {"type": "image", "url": "https://x/a.png"}],
    ):
        turns = [said("go", NOON), Message(role="assistant", content=[call("a")], at=NOON + 1),
                 Message(role="tool", content=[result("a", given)], at=NOON + 2, id="r-1", tokens=90_000)]  # fmt: skip
        found = made(snapshot(messages=turns), None, tool_tokens=2_000)
        forms = found.as_openai(), found.as_anthropic(), found.as_gemini(), found.as_openai_responses(), found.text
        for form in forms:
            assert estimate(json.dumps(form)) < 2_500, given
            assert "recall finds all the words of message r-1" in json.dumps(form), given
        assert found.tokens < 3_500
        assert found.messages[-1].content[0]["result"] == given
    short = made(snapshot(messages=turns), None, tool_tokens=None)
    assert estimate(short.text) > 50_000
