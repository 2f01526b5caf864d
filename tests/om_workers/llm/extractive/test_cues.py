import pytest
from extracts import block, observe, said

NOISE = ["haha ok", "thanks!", "👍", "good morning :)", "nice, sounds great", "lol", "see you tomorrow"]


@pytest.mark.parametrize(
    "text", ["it should be fixed by Bo", "the login bug is not fixed", "a fixed amount of memory", "is the fix merged?"]
)
def test_what_is_not_finished_is_not_marked_done(text):
    assert "✅" not in observe(said(text))


def test_only_small_talk_gives_an_empty_block():
    assert (
        observe(*(said(text, minute=minute) for minute, text in enumerate(NOISE))) == "<observations>\n</observations>"
    )


def test_small_talk_is_left_out_beside_a_fact():
    text = observe(*map(said, NOISE), said("My sister Jo lives in Ghent"))

    assert block(text)[1:] == ["* 🔴 (14:30) User: My sister Jo lives in Ghent"]
