import msgspec

from om_api.redaction.making import redactor
from om_api.redaction.records import entry, field, note
from om_api.redaction.redactor import Redactions
from om_api.settings.sections.redaction_settings import RedactionSettings

EMAIL = "ada@example.com"
REDACTOR = redactor(RedactionSettings(kinds=("email", "secret")))


def test_a_note_is_redacted_and_what_names_it_stays():
    text = msgspec.json.encode(
        {"id": EMAIL, "thread_id": EMAIL, "text": EMAIL, "message_ids": [EMAIL], "by": EMAIL, "tokens": 3}
    )
    said = msgspec.json.decode(note(text, REDACTOR, Redactions()))
    assert said == {
        "id": EMAIL,
        "thread_id": EMAIL,
        "text": "[email]",
        "message_ids": [EMAIL],
        "by": EMAIL,
        "tokens": 3,
    }


def test_an_entry_of_the_quarantine_keeps_its_form():
    member = '{"role":"nobody","text":"ada@example.com"}'
    text = msgspec.json.encode({"kind": "malformed", "thread_id": EMAIL, "reason": "r", "at": 1, "member": member})
    said = msgspec.json.decode(entry(text, REDACTOR, Redactions()))
    assert said == {
        "kind": "malformed",
        "thread_id": EMAIL,
        "reason": "r",
        "at": 1,
        "member": member.replace(EMAIL, "[email]"),
    }
    assert entry(b"broken " + EMAIL.encode(), REDACTOR, Redactions()) == b"broken [email]"


def test_of_fields_those_that_say_something_are_redacted():
    said = {"title": EMAIL, "title_by": EMAIL, "value:t-1": f'{{"City":["{EMAIL}",5]}}', "at:": "5", "epoch": "x"}
    made = {name: field(name, value.encode(), REDACTOR, Redactions()).decode() for name, value in said.items()}
    assert made == {**said, "title": "[email]", "value:t-1": '{"City":["[email]",5]}'}
