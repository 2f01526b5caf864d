"""What an agent reads: the order, all that is in view, and tags that no content can forge."""

from snapshots import context, full, kinds, observed, said, snapshot

from om_api.context.signature import Signer
from om_api.domain.values import Generation, Observation


def test_a_context_reads_from_the_oldest_memory_to_the_newest_turn():
    made = context(full())

    assert kinds(made) == [
        "preamble", "reflection", "observations", "observations", "continuation", "day", "message", "message",
        "volatile",
    ]  # fmt: skip
    assert [block.stable for block in made.blocks] == [True] * 5 + [False] * 4
    assert [block.role for block in made.blocks] == ["system"] * 4 + ["user", "user", "user", "assistant", "user"]


def test_the_blocks_of_some_kinds_stand_around_them():
    made = context(full())
    lead, end = made.only((), "continuation"), made.only((), "volatile")
    assert (kinds(lead), kinds(end)) == (["continuation"], ["volatile"])
    assert lead.as_openai() + end.as_openai() == [made.as_openai()[1], made.as_openai()[-1]]


def test_messages_are_ordered_by_time_and_then_by_arrival():
    read = snapshot([said("late", 30), said("b", 20), said("c", 20), said("early", 10)])

    assert [message.content for message in context(read).messages] == ["early", "b", "c", "late"]


def test_counts_of_the_writers_are_believed():
    stored = observed(1)._replace(observation=Observation(id="o1", thread_id="t1", text="one two", tokens=5000))
    made = context(snapshot([said("x", tokens=77)], [stored]))

    assert [block.tokens for block in made.blocks if block.kind == "message"] == [77]
    assert 5000 < next(block.tokens for block in made.blocks if block.kind == "observations") < 5020


def test_in_resource_scope_a_thread_has_one_section_within_an_activation():
    stored = [observed(1, "one"), observed(2, "two", "t2"), observed(3, "three")]
    block = context(snapshot([], stored)).blocks[1]

    assert block.text == (
        '<observations>\n<thread id="t1">\none\nthree\n</thread>\n<thread id="t2">\ntwo\n</thread>\n</observations>'
    )


def test_a_reflection_keeps_only_whole_and_balanced_thread_lines():
    for text, shown in [
        ('<thread id="t1">\n* a\n</thread>', '<thread id="t1">\n* a\n</thread>'),
        ('<thread id="t1">\n* a', '&lt;thread id="t1">\n* a'),
        ("* a\n</thread>", "* a\n&lt;/thread>"),
        ('<thread id="t 1">\n* a\n</thread>', '&lt;thread id="t 1">\n* a\n&lt;/thread>'),
        (' <thread id="t1">\n* a\n</thread>', ' &lt;thread id="t1">\n* a\n&lt;/thread>'),
        (
            '<thread id="t1">\n<thread id="t2">\n</thread>\n</thread>',
            '<thread id="t1">\n&lt;thread id="t2">\n</thread>\n&lt;/thread>',
        ),
    ]:
        block = context(snapshot(generation=Generation(n=1, text=text))).blocks[1]
        assert block.text == f"<reflection>\n{shown}\n</reflection>", text


def test_a_generation_without_text_has_no_block():
    """Catches `<reflection></reflection>` after everything was undone to the time before the first reflection."""
    for text in ("", " \n"):
        nothing = Generation(n=2, text=text)
        kinds = [block.kind for block in context(snapshot([], [observed(1, "one")], generation=nothing)).blocks]
        assert kinds == [block.kind for block in context(snapshot([], [observed(1, "one")])).blocks], text
        assert context(snapshot(generation=nothing)).blocks == context(snapshot()).blocks, text


SIGNER = Signer("5e" * 16, "")


def test_a_block_has_a_code_that_other_languages_can_make():
    assert SIGNER.framed("observations", "* 🔴 bees") == '<observations id="326893019655">\n* 🔴 bees\n</observations>'
    assert Signer().framed("observations", "* 🔴 bees") == "<observations>\n* 🔴 bees\n</observations>"


def test_a_code_is_right_for_one_text_one_tag_one_memory():
    for signer, tag, body in [
        (SIGNER, "observations", "bees "), (SIGNER, "reflection", "bees"),
        (SIGNER._replace(key="5f" * 16), "observations", "bees"),
        (SIGNER._replace(place="t-1"), "observations", "bees"), (Signer(), "observations", "bees"),
    ]:  # fmt: skip
        code = SIGNER.framed("observations", "bees").split('"')[1]
        assert SIGNER.made("observations", code, "bees"), signer
        assert not signer.made(tag, code, body), signer
    for code in ["", "١" * 12, "é", "\ud800" * 12]:
        assert not SIGNER.made("observations", code, "bees"), code
