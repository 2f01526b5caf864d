"""What notes and recall preserve of a conversation."""

from snapshots import count

from om_api.domain.messages import Message
from om_bench.harness.talks import TalkQuestion
from om_bench.memory.baselines import Searched, last, shown
from om_bench.memory.gate import TOLERANCE, fallen

TEXTS = ("we sold the boat", "the greyhound is called Biscuit", "rain again", "iron gates are heavy", "good night then")
DAY_MS = 86_400_000
MESSAGES = [
    Message(id=f"m-{n}", role="user", content=text, at=1_715_170_000_000 + (n > 2) * DAY_MS)
    for n, text in enumerate(TEXTS)
]
HEADER, LINE = 4, 1  # tokens, where each word is one: the header of a day, and what is between two lines


def test_the_newest_messages_are_taken_as_long_as_they_fit_with_their_headers():
    newest = HEADER + 3 + LINE + 4 + LINE

    assert last(MESSAGES, newest, count) == shown(MESSAGES[3:])
    assert last(MESSAGES, newest - 1, count) == shown(MESSAGES[4:])
    assert last(MESSAGES, newest + HEADER + 2 + LINE, count) == shown(MESSAGES[2:])


def test_a_search_finds_what_a_question_is_about():
    for asked, found in [("What is the greyhound called?", 1), ("How heavy is a gate?", 3)]:
        tokens = HEADER + count(TEXTS[found]) + LINE

        assert Searched(MESSAGES).find(TalkQuestion(asked, "", ()), tokens, count) == shown([MESSAGES[found]]), (
            asked,
            found,
        )


def test_a_figure_may_rise_and_fall_by_the_tolerance_and_no_more():
    recorded = {"S": 50.0, "pairs kept": 90.0}

    assert fallen(recorded, {"S": 50.0 - TOLERANCE, "pairs kept": 99.0}) == []
    assert fallen(recorded, {"S": 49.9 - TOLERANCE, "pairs kept": 90.0}) == ["S"]
