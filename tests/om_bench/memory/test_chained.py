"""What contexts support of a long conversation while it goes on."""

import json

from benches import TALKS
from click.testing import CliRunner

from om_bench.__main__ import bench
from om_bench.harness.talks import Talk, TalkQuestion, turn
from om_bench.memory import chained

DAY_MS = 86_400_000
SMALL = ("message_threshold=1000", "observation_threshold=1000")
BEGAN = 1_700_000_000_000
FACTS = ("The lighthouse key hangs behind the blue barrel.", "Our ferry to Lundy sails on the ninth bell.")


def talk(name, fact, at, idle=60):
    """A fact, and then nothing of it any more."""
    said = [fact, *(f"{name} counts sheep, number {n}, and yawns." for n in range(idle))]
    messages = tuple(turn(f"m-{n}", "user", text, at + n * 1000, name) for n, text in enumerate(said))
    return Talk(name, messages, (TalkQuestion(text=fact, answer=fact, evidence=("m-0",)),), people=(name,))


def test_talks_are_one_in_their_order_and_each_question_keeps_its_own_evidence():
    made = chained.chained([talk("ann", FACTS[0], BEGAN), talk("ben", FACTS[1], BEGAN)])
    by_id = {message.id: message for message in made.messages}

    assert [by_id[question.evidence[0]].text() for question in made.questions] == [*FACTS]
    assert len(by_id) == len(made.messages) == 122
    assert {message.thread_id for message in made.messages} == {"chained"}
    assert made.people == ("ann", "ben")


def test_each_talk_begins_a_day_after_the_one_before_it_and_the_last_keeps_its_times():
    times = [
        message.at for message in chained.chained([talk("ann", FACTS[0], BEGAN), talk("ben", FACTS[1], BEGAN)]).messages
    ]

    assert times == sorted(times)
    assert times[61] - times[60] == DAY_MS
    assert (times[61], times[-1]) == (BEGAN, BEGAN + 60_000)


def test_a_question_is_asked_from_when_its_evidence_was_said_and_is_recent_for_two_hundred_messages():
    (found,) = chained.measure([talk("ann", FACTS[0], BEGAN, 219), talk("ben", FACTS[1], BEGAN, 19)], [SMALL])

    assert (found.all.of, found.recent.of, found.last.of) == (13, 11, 2)
    assert found.recent.did <= found.all.did
    assert found.settings == SMALL
    assert found.tokens > 0


def test_a_memory_that_shows_all_supports_all_and_one_with_little_room_does_not():
    names = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("anu", "olim", "ereth", "iscar")]
    said = [f"The {name}er weighs {n} pounds and is kept by {name}a in {name}ville." for n, name in enumerate(names)]
    messages = tuple(turn(f"m-{n}", "user", text, BEGAN + n, "names") for n, text in enumerate(said))
    asked = tuple(TalkQuestion(text=text, answer=text, evidence=(f"m-{n}",)) for n, text in enumerate(said))
    little = ("message_threshold=200", "observation_threshold=200")
    whole, small = chained.measure([Talk("names", messages, asked)], [("message_threshold=100000",), little])

    assert (whole.all.percent, whole.recent.percent, whole.last.did) == (100.0, 100.0, 48)
    assert 0 < small.last.did < 48


def command(*words):
    return CliRunner().invoke(bench, ["chained", *words, str(TALKS / "own.json")])


def test_the_command_measures_what_it_is_told_and_shows_a_row_for_each():
    found = json.loads(command("--json", "--set", "message_threshold=500").output)

    assert [kept["settings"] for kept in found] == [["message_threshold=500"]]
    assert command().output.count("| `message_threshold=3000`") == len(chained.RUNS)
