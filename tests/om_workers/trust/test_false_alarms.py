"""False alarms: of everyday talks nothing is marked that is the user's own, and no task of his is dropped."""

from attacks import talks, turns

from om_api.domain.notes.trust import USUAL
from om_workers.trust.judging import Judge
from om_workers.trust.noting import of_task, quoted
from om_workers.trust.sayings import sayings


def _each():
    for talk in talks():
        judge = Judge(sayings(turns(talk), USUAL, "t-1"))
        for note in talk["notes"]:
            yield f"* 🔴 (14:30) {note}", note, judge


def test_no_note_of_everyday_talks_is_marked():
    marked = [quoted(line, judge) for line, _, judge in _each() if quoted(line, judge) != line]

    assert marked == []


def test_no_task_of_everyday_talks_is_dropped():
    assert [note for _, note, judge in _each() if of_task(note, judge) != note] == []
