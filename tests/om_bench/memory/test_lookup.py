"""Lookups: what a context would show of the past were a question its newest message, where each word is a token."""

from om_bench.harness.talks import Talk, TalkQuestion, turn
from om_bench.memory.lookup import EvidenceRecall, Lookups

TEXTS = (
    "Ilse: we sold the boat",
    "Ilse: the greyhound is called Biscuit",
    "Noor: how lovely",
    "rain again today",
    "Ilse: iron gates are heavy",
)
MESSAGES = tuple(
    turn(f"m-{n}", "user", text, 1_715_076_000_000 + n, "one" if n < 3 else "two") for n, text in enumerate(TEXTS)
)
TALK = Talk("talk", MESSAGES, (), ("Ilse", "Noor"))
PET = TalkQuestion("What is the greyhound called?", "Biscuit", ("m-1",))
LOOKUPS = Lookups(TALK, lambda text: len(text.split()))
FRAME, DAY, HIT, BEFORE = 18, 4, 7, 6  # tokens of what is around all, of the heading, and of two lines
DATE = "May 7, 2024, one"


def told(question, tokens):
    return LOOKUPS.shown(question, tokens).splitlines()[2:-1]


def test_what_is_found_is_shown_under_its_day_and_thread_with_who_said_it():
    assert told(PET, FRAME + DAY + HIT) == [DATE, "user: Ilse: the greyhound is called Biscuit"]
    assert told(TalkQuestion("Will it rain?", "", ()), 100)[:2] == ["May 7, 2024, two", "user: rain again today"]


def test_the_turns_around_a_hit_stand_about_it_as_far_as_they_fit():
    assert told(PET, FRAME + DAY + HIT + BEFORE) == [DATE, *(f"user: {text}" for text in TEXTS[:2])]
    assert told(PET, 100) == [DATE, *(f"user: {text}" for text in TEXTS[:3])]
    assert LOOKUPS.shown(PET, 5) == ""


def test_evidence_is_found_by_the_shares_of_the_questions():
    found = EvidenceRecall()
    LOOKUPS.judge(PET, found)
    LOOKUPS.judge(TalkQuestion("Where is the greyhound?", "", ("m-0", "m-1", "m-2", "m-3")), found)

    assert found.hits.percent == 62.5
    assert found.around.percent == 87.5
    assert EvidenceRecall().hits.percent == 0.0
