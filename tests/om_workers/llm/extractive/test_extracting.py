"""What extractors find without a model: contacts, dates ahead, decisions, open questions and fields, from plain statements."""

import pytest

from om_api import Message
from om_api.domain.kept.extractors import WORKING, Extractor
from om_api.language.calendar import LocalTime
from om_workers.llm.extractive.extracting import RULES, sections
from om_workers.llm.extractive.units import units

AT = 1_763_629_200_000  # Thursday, November 20, 2025, 09:00 UTC
CLOCK = LocalTime("UTC")


def heard(*said):
    """Turns: what a user says, or (role, text)."""
    turns = [each if isinstance(each, tuple) else ("user", each) for each in said]
    return units(
        [
            Message(role=role, content=text, id=f"m-{n}", thread_id="t", resource_id="r", at=AT + n)
            for n, (role, text) in enumerate(turns)
        ]
    )


def found(slug, *said, kept=None, fields=()):
    schema = {"properties": {field: {} for field in fields}} if fields else None
    return RULES[slug](heard(*said), kept, CLOCK, Extractor(slug=slug, instruction="", schema=schema))


@pytest.mark.parametrize(
    ("text", "contacts"),
    [
        ("You can reach Bram Smith at bram@example.org.", {"Bram Smith": "bram@example.org"}),
        ("Call Ada: +43 664 1234567.", {"Ada": "+43 664 1234567"}),
        ("The plumber Karl is at karl@example.org.", {"Karl": "karl@example.org"}),
        ("My doctor is called Dr. House.", {"Dr. House": "the user's doctor"}),
        ("Please call me at 0664 1234567.", {}),
        ("Contact: office@example.org.", {}),
        ("Bram is a friend.", {}),
    ],
)
def test_a_contact_is_a_name_with_how_to_reach_it_or_who_it_is(text, contacts):
    assert found("contacts", text) == contacts


def test_what_was_known_of_a_contact_stays_beside_what_is_new():
    known = {"Ada": "the user's boss"}

    assert found("contacts", "Ada is at ada@example.org.", kept=known) == {"Ada": "the user's boss, ada@example.org"}
    assert found("contacts", "My boss is Ada.", kept=known) == {}


def test_a_date_ahead_is_noted_with_its_day_and_goes_once_it_has_passed():
    kept = {"The old fair": "2025-11-19", "The boat leaves": "2025-12-01"}
    changed = found("dates-ahead", "The dentist is on 2025-11-27.", "Yesterday it rained.", kept=kept)

    assert changed == {"The old fair": None, "The dentist is on 2025-11-27.": "2025-11-27"}
    assert found("dates-ahead", "Is the dentist tomorrow?") == {}


def test_a_decision_is_a_statement_and_no_question_nor_what_is_undecided():
    assert found("decisions", "We decided to use Postgres.") == ["We decided to use Postgres."]
    assert found("decisions", "We decided to use Postgres.", kept=["We decided to use Postgres."]) == []
    assert found("decisions", "Have we decided?", "We have not decided to use it yet.") == []
    assert found("decisions", ("tool", "We decided to use Postgres.")) == []


def test_a_question_is_open_until_the_other_one_answers():
    asked = "Which colour shall the kitchen door have?"

    assert found("open-questions", asked) == {asked: "assistant"}
    assert found("open-questions", asked, ("assistant", "Green.")) == {}
    answer = ("assistant", "The kitchen door shall have a green colour.")
    assert found("open-questions", answer, kept={asked: "assistant"}) == {asked: None}
    assert found("open-questions", ("assistant", "It rains."), kept={asked: "assistant"}) == {}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("My name is Ada, and I live in Graz.", "Name", "Ada"),
        ("I live in Graz.", "City", "Graz"),
        ("I'd prefer short answers, please.", "Prefers", "short answers"),
        ("I am allergic to nuts.", "Allergies", "nuts"),
        ("Our deadline is now Friday.", "Deadline", "Friday"),
        ("Is my name Ada?", "Name", None),
        ("They live in Graz.", "City", None),
    ],
)
def test_a_field_is_what_the_user_states_of_it(text, field, value):
    assert found(WORKING, text, fields=[field]).get(field) == value
    assert found(WORKING, ("assistant", text), fields=[field]) == {}


def test_a_field_that_says_so_already_is_not_proposed_again():
    assert found(WORKING, "I live in Graz.", kept={"City": "Graz"}, fields=["City"]) == {}


def test_only_what_changes_is_written_and_what_has_no_rule_is_left_to_models():
    asked = [Extractor(slug=slug, instruction="") for slug in ("decisions", "contacts", "mood")]

    assert sections(asked, {}, heard("We decided to ship."), CLOCK) == [
        '<decisions>\n["We decided to ship."]\n</decisions>'
    ]
