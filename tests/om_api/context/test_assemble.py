"""What an agent reads: the order, all that is in view, and tags that no content can forge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import HOSTILE, NOON, OUR_TAG, context, full, kinds, observed, said, snapshot

from om_api.domain.messages import Message
from om_api.domain.values import Observation


def test_a_context_reads_from_the_oldest_memory_to_the_newest_turn():
    made = context(full())

    assert kinds(made) == [
        "preamble",
        "reflection",
        "observations",
        "observations",
        "continuation",
        "day",
        "message",
        "message",
        "volatile",
    ]
    assert [block.stable for block in made.blocks] == [True] * 5 + [False] * 4
    assert [block.role for block in made.blocks] == ["system"] * 4 + ["user", "user", "user", "assistant", "user"]


def test_a_context_says_whose_it_is_and_what_it_was_made_of():
    read = full()
    made = context(read)

    assert (made.resource_id, made.thread_id) == ("harold", "t1")
    assert made.reflection is read.generation
    assert [observation.id for observation in made.observations] == ["o1", "o2", "o3"]
    assert made.tokens == sum(block.tokens for block in made.blocks)
    assert (made.omitted, made.unavailable) == (0, False)


def test_everything_in_view_is_in_the_text():
    made = context(full("a certain word"))

    assert made.text.startswith(made.blocks[0].text)
    assert "user: a certain word\n\nassistant: a certain word\n\n<system-reminder>" in made.text


def test_messages_are_ordered_by_time_and_then_by_arrival():
    read = snapshot([said("late", 30), said("b", 20), said("c", 20), said("early", 10)])

    assert [message.content for message in context(read).messages] == ["early", "b", "c", "late"]


def test_a_snapshot_is_left_as_it_was():
    read = full()
    before = repr(read)
    made = context(read, max_tokens=1)
    made.messages.clear()
    made.observations.clear()

    assert repr(read) == before


def parts_of(text):
    call = {"type": "tool-call", "tool_call_id": "c1", "name": text, "args": {text: [text]}}
    result = {"type": "tool-result", "tool_call_id": "c1", "name": text, "result": {"said": [text]}}
    attached = [{"type": kind, "url": text, "name": text, "mime": text} for kind in ("image", "file")]
    split = [{"type": "text", "text": piece} for piece in (text, *(["<", "/thread>"] if "<" in text else []))]
    return [
        Message(role="assistant", content=[*split, call], at=NOON),
        Message(role="tool", content=[result, {**result, "result": text}], at=NOON + 1),
        Message(role="user", content=[*split, *attached], at=NOON + 2),
    ]


def everywhere(text):
    read = full(text, task=text)
    read.messages += parts_of(text)
    read.others["t2"] += parts_of(text)
    return read


def test_no_content_can_open_or_close_our_tags():
    innocent, hostile = (OUR_TAG.findall(context(everywhere(text)).text) for text in ("hello", HOSTILE))

    assert "victim" not in "".join(hostile)
    assert hostile == innocent


@pytest.mark.parametrize("form", ["as_openai", "as_anthropic", "as_gemini"])
def test_no_content_can_open_or_close_our_tags_in_a_providers_form(form):
    def words(value):
        if isinstance(value, dict):
            return [word for key, item in value.items() if key != "url" for word in (key, *words(item))]
        return [word for item in value for word in words(item)] if isinstance(value, list) else [str(value)]

    innocent, hostile = (
        OUR_TAG.findall("\n".join(words(getattr(context(everywhere(text)), form)()))) for text in ("hello", HOSTILE)
    )

    assert hostile == innocent


@given(st.lists(st.sampled_from(["<", "/", " ", "\n", ">", "thread", "system-reminder", 'id="t"', "x"]), max_size=12))
def test_no_sequence_of_fragments_makes_a_tag(fragments):
    text = "".join(fragments)
    made = context(snapshot([said(text), *parts_of(text)]))

    assert not OUR_TAG.findall(made.text)


def test_without_memory_there_are_only_the_messages():
    made = context(snapshot([said("hello")]))

    assert kinds(made) == ["message"]
    assert made.text == "user: hello"


def test_counts_of_the_writers_are_believed():
    stored = observed(1)._replace(observation=Observation(id="o1", thread_id="t1", text="one two", tokens=5000))
    made = context(snapshot([said("x", tokens=77)], [stored]))

    assert [block.tokens for block in made.blocks if block.kind == "message"] == [77]
    assert 5000 < next(block.tokens for block in made.blocks if block.kind == "observations") < 5020


def test_some_raw_messages_alone_are_a_context_of_their_own():
    made = context(snapshot([said("one", id="m1"), said("two", NOON + 1, id="m2"), said("three", NOON + 2, id="m3")]))
    some = made.only({"m1", "m3"})

    assert [each["content"] for each in some.as_openai()] == ["one", "three"]
    assert [message.id for message in some.messages] == ["m1", "m3"]
    assert some.tokens == sum(block.tokens for block in some.blocks) < made.tokens


def test_the_blocks_of_some_kinds_stand_around_them():
    made = context(full())
    lead, end = made.only((), "continuation"), made.only((), "volatile")

    assert kinds(lead) == ["continuation"]
    assert kinds(end) == ["volatile"]
    assert lead.as_openai() + end.as_openai() == [made.as_openai()[1], made.as_openai()[-1]]


def test_a_context_in_pieces_says_what_the_whole_says():
    made = context(full())
    ids = {message.id for message in made.messages}
    pieces = made.only((), "continuation"), made.only(ids), made.only((), "volatile")

    assert made.as_openai()[0] == {"role": "system", "content": made.system}
    assert [each for piece in pieces for each in piece.as_openai()] == made.as_openai()[1:]


def test_without_days_no_line_parts_them():
    made = context(snapshot([said("one", id="m1")], [observed(1)]))

    assert "day" in kinds(made.only({"m1"}))
    assert kinds(made.only({"m1"}, days=False)) == ["message"]
