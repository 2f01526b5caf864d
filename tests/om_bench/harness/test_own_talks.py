import json
from copy import deepcopy

import pytest
from benches import TALKS

from om_api.domain.errors import InvalidInputError
from om_bench.harness.loading import load

MADE = json.loads((TALKS / "own.json").read_text())


def test_turns_are_a_minute_apart_unless_they_say_more():
    (talk,) = load(TALKS / "own.json")
    begun = talk.messages[0].at

    assert [message.at - begun for message in talk.messages[:3]] == [0, 60_000, 360_000]
    assert talk.messages[3].timestamp == 1_741_593_600_000


def test_a_message_begins_with_the_name_of_who_shares_the_users_role():
    (talk,) = load(TALKS / "own.json")

    assert [message.content for message in talk.messages[:2]] == [
        "Ilse: Shall we take the ferry?",
        "The 9 AM one has room.",
    ]
    assert talk.people == ("Ilse", "Noor")


def test_calls_and_results_of_tools_are_parts():
    (talk,) = load(TALKS / "own.json")

    assert [(message.role, message.parts[0]["type"]) for message in talk.messages[3:]] == [
        ("assistant", "tool-call"),
        ("tool", "tool-result"),
    ]


def test_questions_have_their_answers_evidence_and_kind():
    (talk,) = load(TALKS / "own.json")

    assert [(it.answer, it.evidence, it.kind) for it in talk.questions] == [
        ("at 9 AM", ("1.2",), "assistant"),
        ("4 seats", ("2.2",), "tool"),
    ]


def changed(path, value):
    """The talk with something else at a path."""
    document = deepcopy(MADE)
    *way, last = path
    inner = document
    for step in way:
        inner = inner[step]
    inner[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("sessions", 0, "at"), "soon", "session at 'soon': `at` is no time"),
        (("sessions", 0, "turns", 1, "id"), "1.1", "turn 1.1 is there twice"),
        (("sessions", 0, "turns", 1, "text"), "", "turn 1.2: give it either `text` or `parts`"),
        (("sessions", 0, "turns", 1, "parts"), [{"type": "text", "text": "a"}], "turn 1.2: give it either"),
        (("sessions", 0, "turns", 1, "role"), "boss", "message 1.2: role 'boss'"),
        (("sessions", 0, "turns", 1, "texts"), "a", r"unknown field `texts` - at `\$.sessions\[0\].turns\[1\]`"),
        (("sessions", 0, "turns", 1, "minutes"), "ten", r"Expected `float`, got `str`"),
        (("questions", 0, "evidence"), ["7.7"], "evidence 7.7 is no turn of the talk"),
        (("questions", 0, "evidence"), [], "give it an answer and evidence"),
        (("questions", 0, "a"), "", "give it an answer and evidence"),
        (("people",), "Ilse", r"Expected `array`, got `str` - at `\$.people`"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_wrong_is_said_with_its_place_and_the_file(tmp_path, path, value, says):
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(changed(path, value)))

    with pytest.raises(InvalidInputError, match=rf"talk\.json: .*{says}"):
        load(file)
