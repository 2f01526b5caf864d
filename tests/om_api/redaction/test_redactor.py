from functools import partial
from typing import NamedTuple

import msgspec

from om_api.domain.messages import Message
from om_api.redaction.finding import find
from om_api.redaction.making import redactor
from om_api.redaction.placeholders import KINDS, placeholders, put_back, put_back_in
from om_api.redaction.records import entry, field, note
from om_api.redaction.redactor import Redactions, Redactor
from om_api.redaction.vault import Vault
from om_api.settings.sections.redaction_settings import RedactionSettings

EMAIL = "ada@example.com"
PLAIN = Redactor(partial(find, kinds=KINDS))
KEYED = Redactor(partial(find, kinds=KINDS), vault=Vault("0123456789abcdef", "harold"))


def test_with_a_key_equal_values_are_equal_and_others_are_not():
    told = Redactions()
    one, same, other = KEYED.text(f"{EMAIL} {EMAIL} bob@example.com", told).replace("] ", "]|").split("|")
    assert one == same != other
    assert len(told.sealed) == 2
    assert KEYED.text(EMAIL, Redactions()) == one


def test_what_is_redacted_is_not_redacted_again():
    for each in [PLAIN, KEYED]:
        value = {"password": "x y", "to": [EMAIL, {"api_key": 'k "1"'}], "n": 5}
        once = each.value(value, Redactions())
        again = Redactions()
        assert each.value(once, again) == once, each
        assert not again, each


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


def test_a_member_that_is_no_message_is_redacted_as_what_it_is():
    assert (
        PLAIN.member(f"not json {EMAIL} \udcff".encode("utf-8", "surrogateescape"), Redactions())
        == b"not json [email] \xff"
    )
    assert PLAIN.member(msgspec.json.encode([EMAIL]), Redactions()) == b'["[email]"]'
    said = PLAIN.member(msgspec.json.encode({"id": EMAIL, "role": "user", "content": EMAIL, "tokens": 7}), Redactions())
    assert msgspec.json.decode(said) == {"id": EMAIL, "role": "user", "content": "[email]", "tokens": 7}


def test_fields_that_are_named_by_addresses_all_stay():
    for each in [PLAIN, KEYED]:
        said = {EMAIL: 3, "bob@example.com": 5, "[email]": 7}
        once = each.value(said, Redactions())
        assert sorted(once.values()) == [3, 5, 7], each
        assert each.value(once, Redactions()) == once, each


def _nested(levels, inner):
    value = inner
    for n in range(levels):
        value = [value] if n % 2 else {"a": value}
    return value


def test_what_nests_deeply_is_redacted_and_what_holds_nothing_stays():
    for levels, inner, finds in ((200, f"to {EMAIL}", True), (700, "hello", False), (700, f"to {EMAIL}", True)):
        text = msgspec.json.encode(_nested(levels, inner)).decode()
        member = msgspec.json.encode({"role": "user", "content": text, "metadata": _nested(levels, inner)})
        message = Message(role="user", content=text, metadata=_nested(levels, inner))
        made = PLAIN.message(message, Redactions())
        assert (made is not message) == ("[email]" in made.content) == finds, levels
        cleaned = PLAIN.member(member, Redactions())
        assert (cleaned != member) == finds, levels
        assert EMAIL.encode() not in cleaned + msgspec.json.encode(made)


def test_a_text_that_is_json_is_read_by_the_names_of_its_fields():
    for each in [PLAIN, KEYED]:
        said = '{"token": "abcdef", "note": "{\\"secret\\": \\"geheim\\"}", "n": 1.50}'
        made = each.message(Message(role="tool", content=[{"type": "text", "text": said}]), Redactions())
        (part,) = made.content
        assert not [each for each in ("abcdef", "geheim") if each in part["text"]], each
        assert each.message(made, Redactions()) is made, each
        plain = Message(role="user", content='{"n":  1.50} ')
        assert each.message(plain, Redactions()) is plain, each
        assert each.message(Message(role="user", content="[1, 2"), Redactions()).content == "[1, 2", each


def test_json_in_json_is_read_to_four_levels():
    """A quote gets longer with each level: reading 85 of them in 100 kB took 44 s."""
    said, found = "hello", list[str]()
    for _ in range(9):
        said = msgspec.json.encode([said]).decode()
    Redactor(lambda text: found.append(text) or []).message(Message(role="tool", content=said), Redactions())
    assert len(found) == 5


RANDOM = "xK9fQ2mW7zR4tY8uP3sL6vB1nC5"


def test_ids_of_calls_data_of_files_and_signatures_stay_and_what_only_is_called_so_is_redacted():
    for part in (
        {"type": "tool-result", "toolCallId": RANDOM, "toolName": "t", "result": {"tool_use_id": RANDOM}},
        {"type": "file", "source": {"data": RANDOM, "media_type": "application/pdf"}},
        {"type": "reasoning", "text": "so", "signature": RANDOM},
    ):
        message = Message(role="assistant", content=[part])
        assert PLAIN.message(message, Redactions()) is message, part
    member = b'{"id": "m-1",  "role":"user","content":"hello"}'
    assert PLAIN.member(member, Redactions()) is member

    said = {"data": RANDOM, "encryptedContent": RANDOM, "call_id": EMAIL, "file": {"type": "image", "data": EMAIL}}
    assert PLAIN.value({**said, "card": 4111111111111111, "at": 1763600000000}, Redactions()) == {
        "data": "[secret]",
        "encryptedContent": RANDOM,
        "call_id": "[email]",
        "file": {"type": "image", "data": "[email]"},
        "card": "[card]",
        "at": 1763600000000,
    }


REDACTOR = redactor(RedactionSettings(kinds=("email", "secret")), "harold")


def test_notes_entries_and_fields_are_redacted_and_what_names_them_stays():
    own = {"id": EMAIL, "thread_id": EMAIL, "text": EMAIL, "message_ids": [EMAIL], "by": EMAIL, "tokens": 3}
    said = msgspec.json.decode(note(msgspec.json.encode(own), REDACTOR, Redactions()))
    assert said == {**own, "text": "[email]"}
    owner = f"Date: Nov 1, 2026\n* 🟡 From {EMAIL}:"
    for origin, text in (("shared", f"{owner} [email]"), ("manual", f"{owner} x".replace(EMAIL, "[email]"))):
        own |= {"text": f"{owner} {EMAIL if origin == 'shared' else 'x'}", "origin": origin}
        said = msgspec.json.decode(note(msgspec.json.encode(own), REDACTOR, Redactions()))
        assert said == {**own, "text": text}, origin

    member = '{"role":"nobody","text":"ada@example.com"}'
    own = {"kind": "malformed", "thread_id": EMAIL, "reason": "r", "at": 1, "member": member}
    said = msgspec.json.decode(entry(msgspec.json.encode(own), REDACTOR, Redactions()))
    assert said == {**own, "member": member.replace(EMAIL, "[email]")}
    assert entry(b"broken " + EMAIL.encode(), REDACTOR, Redactions()) == b"broken [email]"

    said = {"title": EMAIL, "title_by": EMAIL, "value:t-1": f'{{"City":["{EMAIL}",5]}}', "at:": "5", "epoch": "x",
        "retracted": f"{'1' * 14} user: x\n{'2' * 14} user: {EMAIL}"}  # fmt: skip
    made = {name: field(name, value.encode(), REDACTOR, Redactions()).decode() for name, value in said.items()}
    assert made == {**said, "title": "[email]", "value:t-1": '{"City":["[email]",5]}',
        "retracted": said["retracted"].replace(EMAIL, "[email]")}  # fmt: skip


WORDS = {"email 0123456789": "<ada@example.com>"}


class _Pair(NamedTuple):
    a: str
    b: int


class _Told(msgspec.Struct):
    text: str
    more: tuple[str, ...] = ()


def test_placeholders_are_named_and_what_is_known_is_put_back_wherever_a_value_holds_it():
    named = placeholders("[email] [email 0123456789] [email 01] [phone abcdefabcd] [word]")
    assert list(named) == ["email", "email 0123456789", "phone abcdefabcd"]
    text = "to [email 0123456789], cc [email ffffffffff] or [email]"
    assert put_back(text, WORDS) == "to <ada@example.com>, cc [email ffffffffff] or [email]"

    one, real = "[email 0123456789]", "<ada@example.com>"
    told = {one: [one, (one, 1), _Pair(one, 2), _Told(one, (one,)), None]}
    assert put_back(one, WORDS, str.upper) == "<ADA@EXAMPLE.COM>"
    assert put_back_in(told, WORDS) == {real: [real, (real, 1), _Pair(real, 2), _Told(real, (real,)), None]}


KEY = "0123456789abcdef"


def test_a_value_opens_for_its_resource_under_its_name_and_key_alone():
    vault, other = Vault(KEY, "harold"), Vault(KEY, "joss")
    name = vault.name("email", "ada@example.com")
    sealed = vault.seal(name, "ada@example.com")
    assert b"example" not in sealed
    assert vault.open(name, sealed) == "ada@example.com"
    assert vault.open("email 0000000000", sealed) is None
    assert Vault(KEY + "x", "harold").open(name, sealed) is None
    assert other.open(name, sealed) is None
    assert (
        other.name("email", "ada@example.com") != name == Vault(KEY, "joss", "harold").name("email", "ada@example.com")
    )
    assert vault.open(name, b"short") is None
