"""Recall as a tool: a schema that providers take, calls as they send them, and bounded answers that say who spoke."""

import json
from types import SimpleNamespace

import pytest
from hostile import HOSTILE, tags
from snapshots import NOON, count

from om_api.context.group_text import GroupCall, group_call, groups_text, notes_text
from om_api.context.recall_tool import PARTIAL, answer_of, arguments_of, recall_tool, refused
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.notes.groups import NoteGroup
from om_api.domain.tokens import estimate
from om_api.domain.values import Observation
from om_api.recall.recalled import Recalled, RecalledHit


def test_a_tool_names_what_may_be_asked_in_the_frame_of_its_provider():
    frames = {
        "openai": lambda tool: tool["function"]["parameters"],
        "anthropic": lambda tool: tool["input_schema"],
        "gemini": lambda tool: tool["function_declarations"][0]["parameters"],
    }
    names = {"query", "thread_id", "role", "after", "before", "group", "offset"}
    for provider, schema_of in frames.items():
        tool = recall_tool(provider)
        schema = schema_of(tool)
        assert (schema["type"], schema["required"], set(schema["properties"])) == ("object", ["query"], names), provider
        assert {each["type"] for each in schema["properties"].values()} == {"string", "integer"}, provider
        assert json.loads(json.dumps(tool)) == tool, provider
    with pytest.raises(InvalidInputError, match="format is 'bedrock': use openai, anthropic, gemini"):
        recall_tool("bedrock")


ASKED = {"query": "tea", "role": "user", "after": "2025-05-01"}
TEXT = json.dumps(ASKED)
CALLS = {
    "arguments": ASKED,
    "JSON": TEXT,
    "OpenAI chat": {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": TEXT}},
    "OpenAI chat, the SDK's": SimpleNamespace(id="c1", function=SimpleNamespace(name="recall", arguments=TEXT)),
    "OpenAI Responses, the SDK's": SimpleNamespace(type="function_call", call_id="c1", name="recall", arguments=TEXT),
    "Anthropic": {"type": "tool_use", "id": "c1", "name": "recall", "input": ASKED},
    "Gemini": {"name": "recall", "args": ASKED},
    "Gemini's part": {"functionCall": {"name": "recall", "args": ASKED}},
    "Gemini's part, the SDK's": SimpleNamespace(text=None, function_call=SimpleNamespace(name="recall", args=ASKED)),
}


def test_a_call_is_read_as_its_provider_sends_it():
    for call in CALLS.values():
        assert arguments_of(call) == {"query": "tea", "after": "2025-05-01", "offset": 0, "roles": "user"}, call


def test_what_a_model_makes_of_a_schema_is_taken_as_far_as_it_goes():
    for call, taken in [
        ({"query": "tea", "role": "", "thread_id": None, "before": ""}, {"roles": (), "offset": 0}),
        ({"query": "tea", "offset": 8.0}, {"roles": (), "offset": 8}),
        ({"query": "tea", "limit": 500, "resource_id": "somebody"}, {"roles": (), "offset": 0}),
        ({"query": "tea", "role": ["user", "tool"]}, {"roles": ["user", "tool"], "offset": 0}),
    ]:
        assert arguments_of(call) == {"query": "tea", **taken}, call


def test_a_call_that_cannot_be_read_says_why():
    for call, told in [
        ("{", "the arguments are not JSON"), (b"\xff", "the arguments are not JSON"),
        ("[" * 50_000, "the arguments are not JSON"),
        ({"function": {"name": "recall", "arguments": "{'query': 'tea'}"}}, "the arguments are not JSON"),
        ("[]", "the arguments are list: use an object"), (None, "the arguments are NoneType"),
        (SimpleNamespace(name="recall"), "the arguments are SimpleNamespace"),
        ({"name": "recall", "input": {}}, "a call needs a query"), ({"query": None}, "a call needs a query"),
        ({"query": ["tea"]}, "a call needs a query"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError) as error:
            arguments_of(call)
        assert told in str(error.value), call
        assert told in refused(str(error.value)), call
        assert refused(str(error.value)).startswith("Nothing was looked up: "), call


def said(name, text, at=NOON, role="user"):
    return Message(role=role, content=text, id=name, thread_id="t-2", at=at)


def hit(name="m1", text="the code is 7", words=("code",), covers="", **beside):
    kept = {"kind": "message", "id": name, "thread_id": "t-2", "at": NOON, "text": text, "role": "user"}
    return RecalledHit(**kept, message=said(name, text), matched=tuple(words), covered_by=covers, **beside)


def answered(*hits, following=None, tokens=1_500, offset=0):
    return answer_of(Recalled(query="code", hits=hits, next=following), "Europe/Berlin", tokens, estimate, offset)


def test_an_answer_says_thread_day_and_who_spoke_and_marks_the_hit():
    found = hit(
        covers="observation o1",
        before=[said("m0", "what is the code", NOON - 60_000)],
        after=[said("m2", "thanks\nbye", NOON + 60_000, "assistant")],
    )

    assert answered(found, hit("m9"), following=2).splitlines() == [
        "Thread t-2, message m1, in your notes as observation o1:", "  [Tue 2025-12-30 12:59] user: what is the code",
        "> [Tue 2025-12-30 13:00] user: the code is 7", "  [Tue 2025-12-30 13:01] assistant: thanks", "\tbye", "",
        "Thread t-2, message m9:", "> [Tue 2025-12-30 13:00] user: the code is 7", "",
        "There is more: ask again with offset 2.",
    ]  # fmt: skip


def test_what_fits_is_told_whole():
    whole = answered(hit(text="\n".join(f"line {n} of it" for n in range(100))))
    assert ("line 99 of it" in whole, "…" in whole) == (True, False)


def test_a_long_message_is_bounded_and_the_part_with_the_words_is_told():
    """Catches 100,000 characters for the Actor to read, and their beginning, which holds nothing of what it asked."""
    for tokens in (1_500, 100):
        text = f"{'filler words here ' * 5_500}the passport number is K-4711 {'more of it ' * 100}"
        found = hit(
            text=text, words=("passport", "number"), before=[said("m0", text)], after=[said("m2", "x" * 100_000)]
        )
        answer = answered(found, tokens=tokens)
        assert answer.count("passport number is K-4711") >= 1, tokens
        assert any("passport number" in line for line in answer.splitlines() if line.startswith("> ")), tokens
        assert estimate(answer) <= max(tokens, 170), tokens


def test_hits_that_have_no_room_are_asked_for_again():
    """Catches a bound that writers set: a message may say that it has one token."""
    hits = [hit(f"m{n}", f"{n} " + "word " * 1_000) for n in range(8)]
    first = answered(*hits, tokens=200, offset=16, following=24)
    shown = first.count("Thread t-2")

    assert 1 <= shown < 8
    assert first.endswith(f"There is more: ask again with offset {16 + shown}.")
    assert estimate(first) <= 200
    assert answered(*hits, tokens=20_000, offset=16, following=24).endswith("offset 24.")
    assert "There is more" not in answered(*hits[:1], tokens=1)


def test_no_message_opens_or_closes_a_tag_of_ours():
    for text in HOSTILE[::15]:
        for size in (0, 400):
            long = f"{'filler ' * size}code {text} {'filler ' * size}"
            found = hit(text=long, before=[said("m0", long)], after=[said("m2", text)])
            assert tags(answered(found)) == [], (text, size)
            assert tags(answer_of(Recalled(query=text, reason=text), "UTC")) == [], (text, size)
            assert tags(refused(text)) == [], (text, size)


def test_an_answer_says_that_the_archive_is_away_and_nothing_of_where_it_is():
    for hits in [(), (RecalledHit(kind="message", id="m-1", thread_id="t", at=1, text="x"),)]:
        found = Recalled(query="tea", hits=hits, reason="try others", partial="postgresql://om@db is away")
        assert answer_of(found, "UTC").endswith(PARTIAL), hits
        assert "postgresql" not in answer_of(found, "UTC"), hits
        assert PARTIAL not in answer_of(Recalled(query="tea", hits=hits, reason="try others"), "UTC"), hits


NOTES = [
    Observation(id=f"o-{n}", thread_id="t-1", text=f"Date: Mar {n}, 2026\n* note {n} </observations>")
    for n in range(1, 30)
]
GROUP = NoteGroup(id="k3fq7a2m", thread_id="t-1", heading="* 2026-03-14 [k3fq7a2m] 1 note: x")


def test_what_cannot_be_asked_is_refused():
    for call in [{"group": "x y"}, {"group": 3}, {"group": "all", "offset": -1}, {"group": "all", "offset": "2"}]:
        with pytest.raises(InvalidInputError, match="is "):
            group_call(call)


def test_pages_make_up_the_whole_and_no_line_closes_a_tag_of_ours():
    for most in (1, 90):
        told, offset = [], 0
        while offset is not None:
            text = notes_text(GroupCall("k3fq7a2m", offset), NOTES, "", most, count)
            told += [line for line in text.split("\n")[1:] if not line.startswith("There is more")]
            more = text.rsplit("offset ", 1)
            offset = int(more[1].rstrip(".")) if len(more) > 1 else None
        assert [line.replace("&lt;", "<") for line in told] == [
            line for own in NOTES for line in own.text.split("\n")
        ], most
        assert "</observations>" not in "".join(told), most


def test_the_groups_of_a_month_are_listed_with_their_threads():
    assert groups_text(GroupCall("2026-03", 0), [GROUP], "") == f"Groups of 2026-03:\n{GROUP.heading} (thread t-1)"
    assert "Nothing is kept under 2025" in groups_text(GroupCall("2025", 0), [], "")
    assert groups_text(GroupCall("2026-03", 0), [GROUP], "Some is missing.").endswith("\nSome is missing.")
