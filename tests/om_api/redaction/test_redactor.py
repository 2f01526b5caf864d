from functools import partial

import msgspec
import pytest

from om_api.domain.messages import Message
from om_api.redaction.finding import find
from om_api.redaction.placeholders import KINDS
from om_api.redaction.redactor import Redactions, Redactor
from om_api.redaction.vault import Vault

EMAIL = "ada@example.com"
PLAIN = Redactor(partial(find, kinds=KINDS))
KEYED = Redactor(partial(find, kinds=KINDS), vault=Vault("0123456789abcdef"))


def test_without_a_key_only_the_kind_stands_there():
    told = Redactions()
    assert PLAIN.text(f"to {EMAIL}, cc {EMAIL}", told) == "to [email], cc [email]"
    assert (dict(told.counts), told.sealed) == ({"email": 2}, {})


def test_with_a_key_equal_values_are_equal_and_others_are_not():
    told = Redactions()
    one, same, other = KEYED.text(f"{EMAIL} {EMAIL} bob@example.com", told).replace("] ", "]|").split("|")
    assert one == same != other
    assert len(told.sealed) == 2
    assert KEYED.text(EMAIL, Redactions()) == one


@pytest.mark.parametrize("redactor", [PLAIN, KEYED])
def test_what_is_redacted_is_not_redacted_again(redactor):
    value = {"password": "x y", "to": [EMAIL, {"api_key": 'k "1"'}], "n": 5}
    once = redactor.value(value, Redactions())
    again = Redactions()
    assert redactor.value(once, again) == once
    assert not again


def test_what_a_field_is_named_makes_it_a_secret_and_numbers_of_passwords_too():
    said = {"user_password": "a b", "token": "x", "pin_password": 1234, "n_tokens": 7, EMAIL: 1, "tokens": "three"}
    assert PLAIN.value(said, Redactions()) == {
        "user_password": "[secret]",
        "token": "[secret]",
        "pin_password": "[secret]",
        "n_tokens": 7,
        "[email]": 1,
        "tokens": "three",
    }


def test_a_message_is_redacted_in_all_it_says_and_not_in_what_names_it():
    part = {"type": "tool-call", "toolCallId": EMAIL, "toolName": "send", "args": {"id": EMAIL}}
    given = Message(id=EMAIL, role="assistant", content=[part], thread_id=EMAIL, metadata={"x": EMAIL}, name=EMAIL)
    made = PLAIN.message(given, Redactions())
    assert (made.id, made.thread_id, made.name, made.metadata) == (EMAIL, EMAIL, "[email]", {"x": "[email]"})
    assert made.content == [{**given.content[0], "args": {"id": "[email]"}}]
    assert made.content[0]["tool_call_id"] == EMAIL
    assert given.metadata == {"x": EMAIL}


def test_what_holds_nothing_is_the_same_object():
    message = Message(role="user", content="hello", metadata={"a": [1]})
    assert PLAIN.message(message, Redactions()) is message
    member = b'{"id": "m-1",  "role":"user","content":"hello"}'
    assert PLAIN.member(member, Redactions()) is member


def test_a_member_that_is_no_message_is_redacted_as_what_it_is():
    assert (
        PLAIN.member(f"not json {EMAIL} \udcff".encode("utf-8", "surrogateescape"), Redactions())
        == b"not json [email] \xff"
    )
    assert PLAIN.member(msgspec.json.encode([EMAIL]), Redactions()) == b'["[email]"]'
    said = PLAIN.member(msgspec.json.encode({"id": EMAIL, "role": "user", "content": EMAIL, "tokens": 7}), Redactions())
    assert msgspec.json.decode(said) == {"id": EMAIL, "role": "user", "content": "[email]", "tokens": 7}


def test_what_only_a_provider_can_read_stays():
    sealed = "xK9fQ2mW7zR4tY8uP3sL6vB1nC5"
    assert PLAIN.value({"encryptedContent": sealed, "text": sealed}, Redactions()) == {
        "encryptedContent": sealed,
        "text": "[secret]",
    }


@pytest.mark.parametrize("redactor", [PLAIN, KEYED])
def test_fields_that_are_named_by_addresses_all_stay(redactor):
    said = {EMAIL: 3, "bob@example.com": 5, "[email]": 7}
    once = redactor.value(said, Redactions())
    assert sorted(once.values()) == [3, 5, 7]
    assert redactor.value(once, Redactions()) == once


def test_of_many_fields_that_are_named_by_addresses_none_is_looked_at_again():
    looked = []
    redactor = Redactor(lambda text: looked.append(text) or find(text, KINDS))
    made = redactor.value({f"u{n}@example.com": n for n in range(500)}, Redactions())

    assert [*made] == ["[email]", *(f"[email] ({n})" for n in range(2, 501))]
    assert len(looked) == 500


def _nested(levels, inner):
    value = inner
    for n in range(levels):
        value = [value] if n % 2 else {"a": value}
    return value


@pytest.mark.parametrize("levels", [200, 700])
def test_what_nests_deeply_is_redacted_and_what_holds_nothing_stays(levels):
    for inner, finds in (("hello", False), (f"to {EMAIL}", True)):
        text = msgspec.json.encode(_nested(levels, inner)).decode()
        member = msgspec.json.encode({"role": "user", "content": text, "metadata": _nested(levels, inner)})
        message = Message(role="user", content=text, metadata=_nested(levels, inner))

        made = PLAIN.message(message, Redactions())
        assert (made is not message) == finds
        assert ("[email]" in made.content) == finds
        cleaned = PLAIN.member(member, Redactions())
        assert (cleaned != member) == finds
        assert EMAIL.encode() not in cleaned + msgspec.json.encode(made)


def test_the_number_of_a_card_is_found_without_quotes():
    assert PLAIN.value({"card": 4111111111111111, "at": 1763600000000}, Redactions()) == {
        "card": "[card]",
        "at": 1763600000000,
    }


@pytest.mark.parametrize("redactor", [PLAIN, KEYED])
def test_a_text_that_is_json_is_read_by_the_names_of_its_fields(redactor):
    said = '{"token": "abcdef", "note": "{\\"secret\\": \\"geheim\\"}", "n": 1.50}'
    made = redactor.message(Message(role="tool", content=[{"type": "text", "text": said}]), Redactions())
    (part,) = made.content
    assert not [each for each in ("abcdef", "geheim") if each in part["text"]]
    assert redactor.message(made, Redactions()) is made
    plain = Message(role="user", content='{"n":  1.50} ')
    assert redactor.message(plain, Redactions()) is plain
    assert redactor.message(Message(role="user", content="[1, 2"), Redactions()).content == "[1, 2"


RANDOM = "xK9fQ2mW7zR4tY8uP3sL6vB1nC5"
DATA = [
    {
        "type": "tool-result",
        "toolCallId": RANDOM,
        "toolName": "t",
        "result": {"tool_use_id": RANDOM, "call_id": RANDOM},
    },
    {"type": "image", "data": RANDOM},
    {"type": "file", "source": {"data": RANDOM, "media_type": "application/pdf"}},
    {"type": "reasoning", "text": "so", "signature": RANDOM},
]


@pytest.mark.parametrize("part", DATA)
def test_ids_of_calls_and_data_of_files_and_of_signatures_stay(part):
    message = Message(role="assistant", content=[part])
    assert PLAIN.message(message, Redactions()) is message


def test_what_only_is_called_so_is_redacted_as_ever():
    said = {"data": RANDOM, "signature": RANDOM, "call_id": EMAIL, "file": {"type": "image", "data": EMAIL}}
    assert PLAIN.value(said, Redactions()) == {
        "data": "[secret]",
        "signature": "[secret]",
        "call_id": "[email]",
        "file": {"type": "image", "data": "[email]"},
    }
