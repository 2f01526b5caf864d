import pytest
from extracts import block, observe, said

NOISE = ["haha ok", "thanks!", "👍", "good morning :)", "nice, sounds great", "lol", "see you tomorrow"]


@pytest.mark.parametrize(
    "text",
    [
        *("it should be fixed by Bo", "the login bug is not fixed", "a fixed amount of memory", "is the fix merged?"),
        *(
            "I'm done with work for today, off to Ghent",
            "Yoga has done wonders for my back",
            "I couldn't have done it in June",
        ),
        *("We plan to ship it finished on Monday", "They sent me a rejection letter", "Delivery is booked for 7 March"),
        *("I hope that Bo fixed the login bug", "The fixed costs are 40 euros", "Well done, that took 40 days"),
    ],
)
def test_what_is_not_finished_is_not_marked_done(text):
    assert "✅" not in observe(said(text))


@pytest.mark.parametrize(
    "text",
    [
        *("I finally finished my first screenplay", "Bug 7 is fixed", "Petra shipped her app on Tuesday"),
        *("Done, the key is now the invoice id", "It took 40 days but we got it done"),
    ],
)
def test_what_the_text_says_is_finished_is_marked_done(text):
    assert "✅" in observe(said(text))


def test_only_small_talk_gives_an_empty_block():
    assert (
        observe(*(said(text, minute=minute) for minute, text in enumerate(NOISE))) == "<observations>\n</observations>"
    )


def test_small_talk_is_left_out_beside_a_fact():
    text = observe(*map(said, NOISE), said("My sister Jo lives in Ghent"))

    assert block(text)[1:] == ["* 🔴 (14:30) User: My sister Jo lives in Ghent"]
