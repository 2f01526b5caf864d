"""Lines of a memory that arrives, without what its agent's settings say is not stored."""

from functools import singledispatch

from msgspec.structs import replace

from om_api.redaction.records import entry, field, note
from om_api.redaction.redactor import Redactions, Redactor
from om_api.store.backup import backup_format
from om_api.store.backup.backup_format import Line, Text, as_bytes, as_text


@singledispatch
def redacted_line(line: Line, redactor: Redactor, told: Redactions) -> Line:  # noqa: ARG001 -- of kinds that hold no text
    """A line as it may be stored; what was replaced is added to `told`."""
    return line


@redacted_line.register
def _message(line: backup_format.MessageLine, redactor: Redactor, told: Redactions) -> Line:
    return replace(line, message=as_text(redactor.member(as_bytes(line.message), told)))


@redacted_line.register
def _observation(line: backup_format.ObservationLine, redactor: Redactor, told: Redactions) -> Line:
    return replace(line, observation=as_text(note(as_bytes(line.observation), redactor, told)))


@redacted_line.register
def _generation(line: backup_format.GenerationLine, redactor: Redactor, told: Redactions) -> Line:
    return replace(line, generation=as_text(note(as_bytes(line.generation), redactor, told)))


@redacted_line.register
def _rejected(line: backup_format.RejectedLine, redactor: Redactor, told: Redactions) -> Line:
    return replace(line, entry=as_text(entry(as_bytes(line.entry), redactor, told)))


@redacted_line.register(backup_format.RecordLine)
@redacted_line.register(backup_format.ThreadLine)
@redacted_line.register(backup_format.ChunkLine)
@redacted_line.register(backup_format.WorkingLine)
def _fields(
    line: backup_format.RecordLine | backup_format.ThreadLine | backup_format.ChunkLine | backup_format.WorkingLine,
    redactor: Redactor,
    told: Redactions,
) -> Line:
    return replace(line, fields={name: _field(name, each, redactor, told) for name, each in line.fields.items()})


def _field(name: str, text: Text, redactor: Redactor, told: Redactions) -> Text:
    return as_text(field(name, as_bytes(text), redactor, told))
