from om_api.domain.messages import Message
from om_bench.harness.stems import telling
from om_bench.harness.talks import Talk, TalkQuestion
from om_bench.memory.baselines import shown
from om_bench.memory.support import Support, windows

TURNS = ["Ilse: I adopted a greyhound called Biscuit.", "Noor: I weld iron gates.", "Ilse: The vet wants ninety euros."]
MESSAGES = tuple(Message(id=f"m-{n}", role="user", content=text, at=n * 1000) for n, text in enumerate(TURNS))
PET = TalkQuestion("What did Ilse adopt?", "the greyhound Biscuit", ("m-0",))
BOTH = TalkQuestion("What does Noor weld, and what did Ilse adopt?", "gates, a greyhound", ("m-1", "m-0"))
TALK = Talk("talk", MESSAGES, (PET, BOTH), ("Ilse", "Noor"))


def test_the_whole_conversation_supports_every_question():
    assert Support(TALK).supported(shown(MESSAGES)) == set(TALK.questions)


def test_a_question_is_supported_by_all_of_its_evidence_only():
    assert Support(TALK).supported(f"* {TURNS[0]}") == {PET}
    assert Support(TALK).supported("* Noor: weld gates") == set()


def test_three_quarters_of_a_turns_key_are_enough_and_half_are_not():
    support = Support(TALK)

    assert PET in support.supported("adopted Biscuit greyhounds")
    assert PET not in support.supported("a greyhound\n" + "\n".join("words of something else" for _ in range(20)))


def test_the_name_of_a_person_supports_nothing():
    assert not Support(TALK).supported("Ilse Noor Ilse Noor")


def test_a_line_owns_the_date_above_it():
    assert telling("Date: May 8, 2024") <= next(windows("Date: May 8, 2024\nIlse adopted a dog"))


def test_a_window_ends_after_three_lines_and_after_sixty_words():
    lines = [f"word{number}" for number in range(5)]

    assert max(map(len, windows("\n".join(lines)))) == 3
    assert max(map(len, windows(" ".join(f"word{number}" for number in range(90))))) == 60
