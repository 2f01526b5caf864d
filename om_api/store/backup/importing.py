"""Making a memory of lines: written where nobody reads it, then put in place in one step, if the resource is still empty."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.message_size import MAX_SIZE, MAX_TEXT
from om_api.domain.message_tokens import Count
from om_api.domain.values import check_id, new_id
from om_api.redaction.redactor import Redactions, Redactor
from om_api.store.backup import backup_format
from om_api.store.backup.backup_format import Line, as_bytes, as_text
from om_api.store.backup.import_validator import ImportValidator
from om_api.store.backup.redacted_lines import redacted_line
from om_api.store.backup.staging import FULL, Staging
from om_api.store.driver.replies import as_bool, as_list, word
from om_api.store.driver.steps import Apart, Steps, Verb, batch
from om_api.store.erasing import redacted
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keys import Keys

LONGEST = 2 * MAX_SIZE + MAX_TEXT  # bytes of a line: JSON in JSON takes twice as many where every character is escaped
_SCOPES = (None, "resource", "thread")


class Imported(msgspec.Struct, frozen=True):
    """What a resource holds since an import: messages that are not observed yet, and observations in force.

    `sources` are the observations whose messages are still kept.
    """

    resource: str
    threads: int = 0
    messages: int = 0
    observations: int = 0
    generations: int = 0
    sources: int = 0


class Incoming:
    """A memory that arrives in pieces: `take` each, `send` when it says so, then `commit`; `discard` in any case.

    Nobody can read any of it before the commit. `resource` is whose it is to be, None: whose it was. `check` raises
    InvalidInputError for a resource that takes no writes; `count` counts the tokens of notes; `redactor` says who redacts what
    one stores, `moved` makes encrypted values of one resource those of another.
    """

    def __init__(
        self,
        keys: Keys,
        resource: str | None,
        check: Callable[[str], None],
        count: Count,
        redactor: Callable[[str], Redactor | None] = lambda _: None,
        moved: Callable[[str, str, dict[str, bytes]], dict[str, bytes]] = lambda _, __, sealed: sealed,
    ) -> None:
        self._keys, self._resource, self._check, self._redactor_of = keys, resource, check, redactor
        self._count, self._moved = count, moved
        self._redactor: Redactor | None = None
        self._told = Redactions()
        self._id = new_id()
        self._arriving: ImportValidator | None = None
        self._cut: list[bytes] = []  # the beginning of a line whose end has not come
        self._cut_size = 0
        self._lines, self._digest = 0, hashlib.sha256()
        self._sent = self._ended = self._done = False

    def take(self, piece: bytes) -> Steps[bool]:
        """Take some bytes of the file; True when it is time to send. Raises InvalidInputError.

        A line may have 17 MB, all of which is checked and redacted: with asyncio, in a thread.
        """
        return (yield from Apart(partial(self._take, piece)))

    def _take(self, piece: bytes) -> bool:
        first, *rest = piece.split(b"\n")
        self._cut.append(first)
        self._cut_size += len(first)
        if self._cut_size > LONGEST:
            raise InvalidInputError(
                f"line {self._lines + 1} is too long: more than {LONGEST:,} bytes; a rejected message of this size must be"
                " removed before the export. Nothing was imported"
            )
        for part in rest:
            self._line(b"".join(self._cut))
            self._cut, self._cut_size = [part], len(part)
        return self._arriving is not None and self._arriving.staging.waiting >= FULL

    def _line(self, text: bytes) -> None:
        try:
            self._accept(backup_format.read(text.removesuffix(b"\r")))
        except InvalidInputError as error:
            raise InvalidInputError(f"line {self._lines + 1}: {error}. Nothing was imported") from None
        self._lines += 1
        self._digest.update(text.removesuffix(b"\r") + b"\n")

    def _accept(self, line: Line) -> None:
        if self._ended:
            raise InvalidInputError("nothing may follow the last line")
        if self._arriving is None:
            self._begin(line)
        elif isinstance(line, backup_format.End):
            self._end(line, self._arriving)
        else:
            if isinstance(line, backup_format.RedactedLine):
                line = self._moved_line(line, self._arriving)
            self._arriving.take(redacted_line(line, self._redactor, self._told) if self._redactor else line)

    def _moved_line(self, line: backup_format.RedactedLine, arriving: ImportValidator) -> backup_format.RedactedLine:
        sealed = {name: as_bytes(each) for name, each in line.fields.items()}
        sealed = self._moved(arriving.head.resource, arriving.resource, sealed)
        return backup_format.RedactedLine(fields={name: as_text(each) for name, each in sealed.items()})

    def _begin(self, head: Line) -> None:
        if not isinstance(head, backup_format.MemoryLine):
            raise InvalidInputError("the first line must be of the kind memory, as `om export` writes it")
        if head.format != backup_format.FORMAT:
            ours = f"this version reads {backup_format.FORMAT}: import it with the version that wrote it"
            raise InvalidInputError(f"it is of format {head.format}, {ours}")
        if head.scope not in _SCOPES:
            raise InvalidInputError(f"scope {head.scope[:40]!r} is neither resource nor thread")
        resource = check_id(self._resource or head.resource, "resource")
        self._check(resource)
        self._redactor, of = self._redactor_of(resource), self._keys.of(resource)
        self._arriving = ImportValidator(Staging(of, self._id), of, resource, head, self._count)

    def _end(self, end: backup_format.End, arriving: ImportValidator) -> None:
        if (end.lines, end.sha256) != (self._lines, self._digest.hexdigest()):
            raise InvalidInputError(
                f"it was written after {end.lines:,} other lines than the {self._lines:,} before it: the file was changed or "
                "damaged, export it again"
            )
        if self._told.sealed:
            arriving.staging.fill(arriving.of.redacted, self._told.sealed)
        arriving.finish()
        self._ended = True

    def send(self) -> Steps[None]:
        """Send what waits to where nobody reads it; raises InvalidInputError, before the first time, where somebody lives."""
        arriving = self._begun()
        if not self._sent:
            of = arriving.of
            lives = as_bool("EXISTS", of.scope, of.threads, of.aliases, of.rejected, of.working)
            found, counts = yield from batch(lives, as_list("HKEYS", of.tokens))
            if found or any(name.startswith(b"#") for name in counts):
                raise _occupied(arriving.resource)
        self._sent = True
        yield from arriving.staging.send()

    def _begun(self) -> ImportValidator:
        if self._arriving is None:
            raise InvalidInputError("there is not a single line: name a file that `om export` wrote")
        return self._arriving

    def commit(self) -> Steps[Imported]:
        """Make all of it the resource's memory at once, unless the resource holds anything by now, or lines are missing."""
        if last := b"".join(self._cut).strip():
            self._cut = []
            yield from Apart(partial(self._line, last))  # without its newline: an editor may have taken it off
        arriving = self._begun()
        if not self._ended:
            raise InvalidInputError(
                f"the file ends after line {self._lines:,}, which is not its last one: export it again. Nothing was imported"
            )
        yield from self.send()
        # the sweep looks after every resource that is listed: whoever dies behind the commit leaves nothing forgotten
        yield from due.looked(self._keys, arriving.resource, (yield from due.server_ms()))
        done = yield from Verb("arrive", *self._call(arriving), word)
        if done == "occupied":
            raise _occupied(arriving.resource)
        if done != "imported":
            raise StoreError("the store lost a part of what was sent: nothing was imported, repeat.", stored=False)
        self._done = True
        yield from redacted.keep(self._keys, arriving.resource, Redactions(self._told.counts))
        with suppress(StoreError):  # it is imported; the sweep finds what a mark could not say
            yield from self._mark(arriving)
        return Imported(resource=arriving.resource, **arriving.totals)

    def _call(self, arriving: ImportValidator) -> tuple[list[str], list[Any]]:
        of, staging, scopes = arriving.of, arriving.staging, arriving.scopes()
        names = [of.lock("imported"), of.scope, of.tokens, of.threads, of.rejected, of.aliases, of.working]
        names += [of.record(scope) for scope in scopes]
        args: list[Any] = [self._id, len(scopes)]
        for key, staged in staging.keys.items():
            names += [staging.name(key), key]
            args += [staged.size, staged.held, staged.until]
        return names, args

    def _mark(self, arriving: ImportValidator) -> Steps[None]:
        yield from keyspace_scan.hint(self._keys, [*arriving.unadopted()])
        for index in (self._keys.due_observe, self._keys.due_reflect):
            yield from due.mark(index, arriving.scopes())

    def discard(self) -> Steps[None]:
        """Remove what was sent and did not become a memory; what cannot be removed now expires."""
        if self._sent and not self._done and self._arriving is not None:
            with suppress(StoreError):
                yield from self._arriving.staging.drop()


def _occupied(resource: str) -> InvalidInputError:
    return InvalidInputError(
        f"{resource} holds a memory already, and nothing was imported: clear it first, or import as another resource"
    )
