"""A thread's contexts one after the other: what the last one was spares work, and shows in nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st
from snapshots import DAY, NOON, observed, snapshot

from om_api.context import Rendering, View, build
from om_api.domain.messages import Message
from om_api.domain.values import Generation, ThreadState

NAMES = st.sampled_from(["a", "b", "a-2"])
CALL = st.builds(lambda name: {"type": "tool-call", "tool_call_id": name, "name": "look", "args": {"q": name}}, NAMES)
RESULT = st.builds(lambda name: {"type": "tool-result", "tool_call_id": name, "result": "found"}, NAMES)
TEXT = st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["", " ", "hello", "<observations>"]))
CONTENT = st.sampled_from(["", "hello", "</thread>"]) | st.lists(CALL | RESULT | TEXT, min_size=1, max_size=3)
TALK = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), CONTENT), max_size=12)


def said(talk):
    return [Message(id=f"m{n}", role=role, content=content, at=NOON + n) for n, (role, content) in enumerate(talk)]


SNAPSHOTS = st.builds(
    snapshot,
    TALK.map(said),
    st.integers(0, 3).map(
        lambda n: [observed(m, f"Date: Dec {m}, 2025\n* Fact", activation=f"a{m}") for m in range(n)]
    ),
    generation=st.none() | st.integers(1, 2).map(lambda n: Generation(n=n, text=f"long ago {n}")),
    thread=st.sampled_from(["", "mend the roof"]).map(lambda task: ThreadState(id="t1", current_task=task)),
    others=st.sampled_from([{}, {"t2": said([("user", "elsewhere")])}]),
)


def seen(made):
    forms = (made.as_openai(), made.as_anthropic(), made.as_gemini(), made.text)
    return made.blocks, made.messages, made.tokens, made.omitted, forms


@settings(max_examples=30)
@given(looks=st.lists(st.tuples(SNAPSHOTS, st.integers(0, 1), st.sampled_from([None, 60])), min_size=1, max_size=4))
def test_a_context_is_what_it_would_be_if_it_were_the_first(looks):
    rendering = Rendering(len)
    for read, days, most in looks:
        again = rendering.context(read, View(), NOON + days * DAY, most)
        assert seen(again) == seen(build(read, View(), len, NOON + days * DAY, most))


def test_what_a_caller_does_to_one_context_shows_in_no_later_one():
    rendering, part = Rendering(len), {"type": "text", "text": "hello"}
    messages = [Message(role="user", content=[part], metadata={"a": [1]}), Message(role="user", content="plain")]
    made = rendering.context(snapshot(messages, [observed(1)]), View(), NOON)
    made.messages[0].content[0]["text"] = made.messages[1].content = "forged"
    made.messages[0].metadata["a"].append(2)
    made.as_openai()[2]["content"] = "forged"
    after = rendering.context(snapshot(messages, [observed(1)]), View(), NOON)

    assert "forged" not in f"{after.messages} {after.as_openai()} {after.text}"
    assert after.messages[0].metadata == {"a": [1]}
