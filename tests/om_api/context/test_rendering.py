"""A thread's contexts one after the other: what the last one was spares work, and shows in nothing."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from om_api.context import Rendering, View, build
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.values import Generation, Observation, Record, Scope, Stored, ThreadState

NOON = int(datetime(2025, 12, 30, 12, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000
NAMES = st.sampled_from(["a", "b", "a-2"])
CALL = st.builds(lambda name: {"type": "tool-call", "tool_call_id": name, "name": "look", "args": {"q": name}}, NAMES)
RESULT = st.builds(lambda name: {"type": "tool-result", "tool_call_id": name, "result": "found"}, NAMES)
TEXT = st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["", " ", "hello", "<observations>"]))
CONTENT = st.sampled_from(["", "hello", "</thread>"]) | st.lists(CALL | RESULT | TEXT, min_size=1, max_size=3)
TALK = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), CONTENT), max_size=12)


def said(talk):
    return [Message(id=f"m{n}", role=role, content=content, at=NOON + n) for n, (role, content) in enumerate(talk)]


def snapshot(messages=(), observations=0, generation=None, task="", others=()):
    texts = [f"Date: Dec {n + 1}, 2025\n* 🔴 (14:30) Fact {n}" for n in range(observations)]
    found = [Observation(id=f"o{n}", thread_id="t1", activation=f"a{n}", text=text) for n, text in enumerate(texts)]
    return Snapshot(
        scope=Scope("harold"),
        thread=ThreadState(id="t1", current_task=task),
        record=Record(),
        messages=list(messages),
        chunks=[],
        observations=[Stored(float(n), each, b"") for n, each in enumerate(found)],
        generation=None if generation is None else Generation(n=generation, text=f"long ago {generation}"),
        others={"t2": list(others)} if others else {},
    )


SNAPSHOTS = st.builds(
    snapshot,
    messages=TALK.map(said),
    observations=st.integers(0, 3),
    generation=st.none() | st.integers(1, 2),
    task=st.sampled_from(["", "mend the roof"]),
    others=st.sampled_from([(), said([("user", "elsewhere")])]),
)


def seen(made):
    return (
        made.blocks,
        made.messages,
        made.tokens,
        made.omitted,
        made.as_openai(),
        made.as_anthropic(),
        made.as_gemini(),
    )


@given(looks=st.lists(st.tuples(SNAPSHOTS, st.integers(0, 1), st.sampled_from([None, 60])), min_size=1, max_size=4))
def test_a_context_is_what_it_would_be_if_it_were_the_first(looks):
    rendering = Rendering(len)
    for read, days, most in looks:
        again = rendering.context(read, View(), NOON + days * DAY, most)

        assert seen(again) == seen(build(read, View(), len, NOON + days * DAY, most))
        assert again.text == build(read, View(), len, NOON + days * DAY, most).text


def test_what_stays_is_the_same_object():
    rendering, messages = Rendering(len), said([("user", "one"), ("assistant", "two"), ("user", "three")])
    before = rendering.context(snapshot(messages[:2], 2), View(), NOON)
    after = rendering.context(snapshot(messages, 2), View(), NOON + 1)

    assert [new is old for new, old in zip(after.blocks, before.blocks, strict=False)] == [True] * 7 + [False]


def test_what_a_caller_does_to_one_context_shows_in_no_later_one():
    rendering, part = Rendering(len), {"type": "text", "text": "hello"}
    messages = [Message(role="user", content=[part], metadata={"a": [1]}), Message(role="user", content="plain")]
    made = rendering.context(snapshot(messages, 1), View(), NOON)
    made.messages[0].content[0]["text"] = made.messages[1].content = "forged"
    made.messages[0].metadata["a"].append(2)
    made.as_openai()[2]["content"] = "forged"
    after = rendering.context(snapshot(messages, 1), View(), NOON)

    assert "forged" not in f"{after.messages} {after.as_openai()} {after.text}"
    assert after.messages[0].metadata == {"a": [1]}


def test_a_result_says_the_name_of_its_call_wherever_it_is_shown():
    """Catches `[tool result unnamed]` beside a call that says the name."""
    talk = said(
        [
            ("assistant", [{"type": "tool-call", "tool_call_id": "c", "name": "look", "args": {}}]),
            ("user", "wait"),
            ("tool", [{"type": "tool-result", "tool_call_id": "c", "result": "found"}]),
        ]
    )
    own = build(snapshot(talk), View(), len, NOON)
    other = build(snapshot(others=talk), View(), len, NOON)

    assert "[tool result look] found" in own.text
    assert "[tool result look] found" in other.text
    assert "unnamed" not in str([own.as_openai(), own.as_anthropic(), own.as_gemini(), own.as_openai_responses()])
