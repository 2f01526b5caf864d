import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import DAY, NOON, context, observed, said, snapshot

from om_api.domain.values import Generation, Scope


@given(
    activations=st.lists(
        st.lists(st.tuples(st.sampled_from(["t1", "t2", "t3"]), st.text(max_size=30)), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    ),
    reflected=st.none() | st.text(max_size=30),
    scope=st.sampled_from([Scope("harold"), Scope("harold", "t1")]),
    named=st.booleans(),
)
def test_between_reflections_the_system_text_only_grows_at_its_end(activations, reflected, scope, named):
    generation = None if reflected is None else Generation(n=1, text=reflected)
    stored, before = [], None
    for number, activation in enumerate(activations):
        name = f"a{number}" if named else ""
        stored += [observed(len(stored) + i, text, thread, name) for i, (thread, text) in enumerate(activation)]
        made = context(snapshot([said(str(number))], stored, scope, generation=generation), now=NOON + number * DAY)

        system = made.as_openai()[0]["content"]
        blocks = [block for block in made.blocks if block.role == "system"]
        if before:
            assert system.startswith(before[0])
            assert blocks[: len(before[1])] == before[1]
        before = system, blocks


def test_each_activation_is_one_block_whatever_order_it_was_read_in():
    stored = [observed(3, "three", activation="a2"), observed(1, "one"), observed(2, "two")]
    texts = [block.text for block in context(snapshot([], stored)).blocks if block.kind == "observations"]

    assert len(texts) == 2
    assert texts[0].index("one") < texts[0].index("two")
    assert "three" in texts[1]


def test_in_resource_scope_a_thread_has_one_section_within_an_activation():
    stored = [observed(1, "one"), observed(2, "two", "t2"), observed(3, "three")]
    block = context(snapshot([], stored)).blocks[1]

    assert block.text == (
        '<observations>\n<thread id="t1">\none\nthree\n</thread>\n<thread id="t2">\ntwo\n</thread>\n</observations>'
    )


def test_in_thread_scope_nothing_is_attributed():
    block = context(snapshot([], [observed(1, "one"), observed(2, "two")], Scope("harold", "t1"))).blocks[1]

    assert block.text == "<observations>\none\ntwo\n</observations>"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<thread id="t1">\n* a\n</thread>', '<thread id="t1">\n* a\n</thread>'),
        ('<thread id="t1">\n* a', '&lt;thread id="t1">\n* a'),
        ("* a\n</thread>", "* a\n&lt;/thread>"),
        ('<thread id="t 1">\n* a\n</thread>', '&lt;thread id="t 1">\n* a\n&lt;/thread>'),
        (' <thread id="t1">\n* a\n</thread>', ' &lt;thread id="t1">\n* a\n&lt;/thread>'),
        (
            '<thread id="t1">\n<thread id="t2">\n</thread>\n</thread>',
            '<thread id="t1">\n&lt;thread id="t2">\n</thread>\n&lt;/thread>',
        ),
    ],
)
def test_a_reflection_keeps_only_whole_and_balanced_thread_lines(text, shown):
    block = context(snapshot(generation=Generation(n=1, text=text))).blocks[1]

    assert block.text == f"<reflection>\n{shown}\n</reflection>"


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_generation_without_text_has_no_block(text):
    """Catches `<reflection></reflection>` after everything was undone to the time before the first reflection."""
    nothing = Generation(n=2, text=text)
    kinds = [block.kind for block in context(snapshot([], [observed(1, "one")], generation=nothing)).blocks]

    assert kinds == [block.kind for block in context(snapshot([], [observed(1, "one")])).blocks]
    assert context(snapshot(generation=nothing)).blocks == context(snapshot()).blocks
