"""erasable: whether something is, or tells, what is to be erased."""

import json

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.values import Observation, SharedFrom
from om_api.store.erasing.erasable import (
    ErasableCopy,
    ErasableMessage,
    ErasableObservation,
    ErasableText,
    folded,
    said_in,
)
from om_api.store.memory.quarantine import Rejected


def message(**fields):
    return Message(**{"role": "user", "content": "hi", "thread_id": "t-1", "resource_id": "harold", **fields})


def test_a_text_is_found_in_any_field_whatever_its_case_width_and_blanks():
    target = ErasableText("door code is 4711")
    for said in (
        {"role": "user", "content": "The Door   CODE\nis 4711"},
        {"role": "assistant", "content": [{"type": "tool-call", "args": {"door code is 4711": True}}]},
        {"role": "user", "content": "hi", "metadata": {"note": "door code is 4711"}},
        {"role": "user", "content": "ｄｏｏｒ ｃｏｄｅ is 4711"},
    ):
        assert target.is_message(json.dumps(said).encode(), message()), said
        assert target.is_entry(Rejected(member=json.dumps(said))), said
    assert ErasableText("4711").is_message(b'{"content":[{"args":{"pin":4711}}]}', message())
    for text in ("", " \n\t"):
        with pytest.raises(InvalidInputError, match="there is no text to look for"):
            ErasableText(text)
    assert ErasableText("a <b> c").lines(["* a &lt;b> c"]) == {0}  # what notes show escaped
    assert folded("  A&amp;B\n c ") == "a&b c"


def test_what_is_no_json_is_looked_through_as_it_is():
    assert said_in(b"{secret") == "{secret"
    assert ErasableText("secret").is_entry(Rejected(member="{secret"))
    assert ErasableText("secret").is_entry(Rejected(reason="beside a SECRET", member="{}"))


def test_a_text_that_goes_over_lines_takes_all_of_them():
    lines = ["* nothing", "* the door", "code is", "4711", "* more"]

    assert ErasableText("door code is 4711").lines(lines) == {1, 2, 3}
    assert ErasableText("* more").lines(lines) == {4}
    assert ErasableText("absent").lines(lines) == set()
    assert ErasableText("x").lines([]) == set()


def test_a_message_is_meant_with_what_it_grew_by_and_in_its_own_thread():
    target = ErasableMessage("m-1", "t-1", [], [])
    rest = message(id="m-1+1", metadata={"continues": {"id": "m-1", "after": 5}})

    assert target.is_message(b"", message(id="m-1"))
    assert target.is_message(b"", rest)
    assert not target.is_message(b"", message(id="m-1", thread_id="t-2"))
    assert not target.is_message(b"", message(id="m-11"))
    member = '{"id":"m-1","role":"user","content":"hi"}'
    assert target.is_entry(Rejected(thread_id="t-1", member=member))
    assert not target.is_entry(Rejected(thread_id="t-2", member=member))
    assert not target.is_entry(Rejected(thread_id="t-1", member='{"id":"m-1","role":"robot"}'))


def test_an_observation_is_meant_with_its_messages_and_its_lines():
    own = Observation(id="o-1", thread_id="t-1", text="* Mira moves to Graz", message_ids=("m-1",))
    target = ErasableObservation(own, [own.text, "* it rains in Oslo"])

    assert target.is_message(b"", message(id="m-1"))
    assert not target.is_message(b"", message(id="m-2"))
    assert target.is_entry(Rejected(observation="o-1"))
    assert target.lines(["* Mira has moved to Graz", "* it rains in Oslo"]) == {0}


def test_a_shared_note_is_meant_with_lines_that_only_it_tells():
    text = "Date: May 1, 2026\n* 🟡 From ada: Luna moves to Graz in May"
    copy = Observation(id="o-1", thread_id="ada", text=text, shared_from=SharedFrom(resource="ada"))
    others = ["* 🟡 From ada: Luna moves in May", "* 🔴 Luna sleeps in Graz", "* ada"]
    target = ErasableCopy(copy, [*text.split("\n"), *others], others, ["* Luna moves to Graz"])
    goes = ["* From ada: Luna is moving to Graz", "  * Luna moved to Graz in May"]
    stays = [
        *others,
        "* Luna moves to Graz",
        "* From bo: Luna moves to Graz in May",
        "* Luna sleeps in Graz in summer",
        "ada",
    ]
    assert target.lines([*goes, *stays]) == {0, 1}
    fields = {"Luna moves to Graz in May": False, "From ada: Luna moves to Graz": True, "ada": False}
    assert {text: target.is_field(text) for text in fields} == fields
    assert [target.instead(line) for line in ("* Luna, asleep in Graz, moves there in May", "* tea")] == [others[0], ""]


def test_when_something_was_noted_does_not_make_it_alike():
    """Catches an observation that takes along whatever else was noted in the same minute, or names the same day."""
    text = "Date: Nov 20, 2026\n* 🔴 (14:30) Mira moves to Graz"
    others = ["Date: Nov 20, 2026", "* 🔴 (14:30) The rent is 900", "* 🟡 The lease ends (meaning Nov 20, 2026)"]
    target = ErasableObservation(
        Observation(id="o-1", thread_id="t-1", text=text, message_ids=("m-1",)), [text, *others]
    )

    assert target.lines([*others, "* 🟡 (09:00) Mira has moved to Graz"]) == {3}


def test_whose_a_message_is_and_how_it_is_written_says_nothing():
    """Catches an owner who erases a word and loses a thread that is merely called so."""
    parts = [{"type": "text", "text": "hi"}, {"type": "tool-result", "result": {"n": 1}}]
    said = {"role": "user", "threadId": "thread-9", "resource_id": "harold", "content": parts}
    for text in ("user", "thread-9", "harold", "text", "role", "tool-result", "content"):
        assert text not in said_in(json.dumps(said).encode()), text
