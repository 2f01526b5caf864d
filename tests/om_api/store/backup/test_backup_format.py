"""What stands in a file: every line is read as it was written, bytes that are no text too, and nothing else is taken for one."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.errors import InvalidInputError
from om_api.store.backup import backup_format
from om_api.store.backup.backup_format import Encoded

LINES = [
    backup_format.MemoryLine(format=1, resource="harold", scope=None, exported_at=5, paused=True, signing_key="5e"),
    backup_format.RecordLine(memory="t1", fields={"epoch": "e", "seq": "1.5"}),
    backup_format.ThreadLine(thread="t1", at=1.5, messages=2, tokens=20, fields={"metadata": Encoded("/wA=")}),
    backup_format.AliasLine(alias="t2", thread="t1"),
    backup_format.GenerationLine(memory=None, n=1, generation="{}"),
    backup_format.ObservationLine(memory=None, seq=2.0, observation="{}", replaced_by=1, expires_at=7),
    backup_format.ChunkLine(memory=None, chunk="c1", fields={"thread": "t1"}),
    backup_format.SourceLine(observation="o1", thread="t1", activated_at=1, expires_at=2),
    backup_format.MessageLine(score=1.5, message="{}", chunk="c1"),
    backup_format.RejectedLine(entry="{}"),
    backup_format.WorkingLine(fields={"version:": "1", "value:": "{}"}),
    backup_format.RedactedLine(fields={"email 0123456789": Encoded("/wA=")}),
    backup_format.SeenLine(thread="t1", window=3, ids=["m1", Encoded("/w==")]),
    backup_format.End(lines=10, sha256="ab"),
]


def test_every_kind_of_line_is_read_as_it_was_written():
    assert [backup_format.read(backup_format.write(line)) for line in LINES] == LINES
    assert {type(line) for line in LINES} == set(get_args(backup_format.Line))


@given(st.binary())
def test_bytes_come_back_whatever_they_are(value):
    assert backup_format.as_bytes(backup_format.as_text(value)) == value


def test_what_is_text_stands_there_as_text():
    assert backup_format.as_text("Dächer".encode()) == "Dächer"
    assert backup_format.as_text(b"\xff\x00") == Encoded("/wA=")


def test_fields_of_a_later_version_are_left_alone():
    assert backup_format.read(b'{"kind":"end","lines":1,"sha256":"ab","later":[1]}') == backup_format.End(
        lines=1, sha256="ab"
    )


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"kind":"other"}', b'{"kind":"end"}', b'{"kind":"end","lines":"1","sha256":"ab"}', b"\xff"]
)
def test_what_is_no_line_is_refused(text):
    with pytest.raises(InvalidInputError, match="no line of an exported memory"):
        backup_format.read(text)


def test_a_line_that_is_nested_without_end_is_refused():
    with pytest.raises(InvalidInputError, match="no line of an exported memory"):
        backup_format.read(b'{"kind":"end","later":' + b"[" * 100_000)


@pytest.mark.parametrize("text", [Encoded("?"), Encoded("/w"), "\ud800"])
def test_a_text_that_stands_for_no_bytes_is_refused(text):
    with pytest.raises(InvalidInputError, match="base64"):
        backup_format.as_bytes(text)
