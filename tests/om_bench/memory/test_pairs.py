"""Pairs of words, on notes of three messages of two days."""

from om_bench.harness.talks import Talk, turn
from om_bench.memory.pairs import SaidPairs, Torn
from om_bench.memory.tally import Tally

MAY_7, DAY_MS = 1_715_076_000_000, 86_400_000
RESULT = [{"type": "tool-result", "tool_call_id": "c", "name": "ferries", "result": {"seats": 4}}]
TALK = Talk(
    "talk",
    (
        turn("m-0", "user", "Ilse: Well, we moved to the US, and I don't work. In May I may!", MAY_7, "talk"),
        turn("m-1", "user", "Noor: Biscuit is our greyhound.", MAY_7 + DAY_MS, "talk"),
        turn("m-2", "tool", RESULT, MAY_7 + DAY_MS, "talk"),
    ),
    (),
    ("Ilse", "Noor"),
)


def judged(*lines):
    found = Torn()
    SaidPairs(TALK).judge("\n".join(lines), found)
    return found


def test_what_is_kept_word_for_word_is_whole_whatever_we_write_around_it():
    for note in [
        "* 🔴 (08:05) Ilse: We moved to the US, and I don’t work; in May I may",
        "* Ilse asked: moved to the US (meaning Jun 2, 2024) and I don't work",
        "- we moved",
        '* 🟡 Ilse: moved to the (May 7) US (to "Where (and when) did you move?")',
    ]:
        found = judged("Date: May 7, 2024", note)

        assert found.within.percent == 100.0, note
        assert found.within.of > 0, note


def test_words_that_were_left_out_tear_a_pair():
    assert judged("* Ilse: we moved the US").within == Tally(of=3, did=2)


def test_sentences_are_joined_at_our_own_risk():
    found = judged("* Ilse: moved; work; US. don't work")

    assert found.within == Tally(of=1, did=1)
    assert found.across == Tally(of=4, did=1)
    assert found.longest == 5


def test_words_count_on_the_day_they_were_said_on():
    note = "* Noor: Biscuit is our greyhound"

    assert judged("Date: May 7, 2024", note).within == Tally(of=3, did=0)
    assert judged("Date: May 8, 2024", note).within == Tally(of=3, did=3)
    assert judged("Date: some day", note).within == Tally(of=3, did=3)
