from om_api.domain.messages import Message
from om_bench.harness.stems import telling
from om_bench.harness.talks import Talk, TalkQuestion
from om_bench.memory.support import Support, windows

TURNS = ["Ilse: I adopted a greyhound called Biscuit.", "Noor: I weld iron gates.", "Ilse: The vet wants ninety euros."]
MESSAGES = tuple(Message(id=f"m-{n}", role="user", content=text, at=n * 1000) for n, text in enumerate(TURNS))
PET = TalkQuestion("What did Ilse adopt?", "the greyhound Biscuit", ("m-0",))
BOTH = TalkQuestion("What does Noor weld, and what did Ilse adopt?", "gates, a greyhound", ("m-1", "m-0"))
TALK = Talk("talk", MESSAGES, (PET, BOTH), ("Ilse", "Noor"))


def test_a_question_is_supported_by_all_of_its_evidence_only():
    assert Support(TALK).supported(f"* {TURNS[0]}") == {0}
    assert Support(TALK).supported("* Noor: weld gates") == set()


def test_three_quarters_of_a_turns_key_are_enough_and_half_are_not():
    support = Support(TALK)

    assert 0 in support.supported("adopted Biscuit greyhounds")
    assert 0 not in support.supported("a greyhound\n" + "\n".join("words of something else" for _ in range(20)))


def test_a_line_owns_the_date_above_it():
    assert windows("Date: May 8, 2024\nIlse adopted a dog") == [telling("May 8, 2024 date Ilse adopted a dog")]


def numbered(first, last):
    return " ".join(f"word{number}" for number in range(first, last))


def test_a_window_has_up_to_three_lines():
    assert [len(window) for window in windows("\n".join(f"word{n}" for n in range(5)))] == [3, 3, 3, 2, 1]


def test_a_window_is_whole_lines_and_further_ones_stand_in_it_while_all_have_sixty_words():
    for first, second, held in [(30, 30, 60), (30, 31, 30), (90, 1, 90)]:
        text = f"{numbered(0, first)}\n{numbered(first, first + second)}"

        assert len(windows(text)[0]) == held, (first, second)
