"""The journal of a run: a line of JSON for each thing that was paid for, on the disk before the next one is asked."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from om_api.cli.embedded import hold
from om_api.domain.errors import InvalidInputError

FILE = "journal.jsonl"
_LONGEST = 80


class SpentTokens(msgspec.Struct, frozen=True):
    """Tokens and dollars of calls; `dollars` leaves out those whose price nobody knows, which `unpriced` counts."""

    calls: int = 0
    input: int = 0
    output: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "SpentTokens") -> "SpentTokens":
        """Both together."""
        return SpentTokens(
            *(a + b for a, b in zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True))
        )


class RunPlan(msgspec.Struct, frozen=True, tag="plan"):
    """What a run is of: with any of it another, its lines are another run's. `files` are names with hashes of their bytes."""

    protocol: str
    files: tuple[str, ...]
    model: str
    judge: str
    observer: str
    models: dict[str, str]
    settings: tuple[str, ...]
    recalls: int
    prompts: str


class MemoryMade(msgspec.Struct, frozen=True, tag="memory"):
    """That a talk's memory stands, and what its models cost."""

    talk: str
    spent: SpentTokens = SpentTokens()


class Answered(msgspec.Struct, frozen=True, tag="answer"):
    """What the model answered, shown so many tokens of context, after looking up `recalls`; `failed` says why it did not."""

    key: str
    text: str
    context: int
    recalls: tuple[str, ...] = ()
    failed: str = ""
    spent: SpentTokens = SpentTokens()


class JudgedAnswer(msgspec.Struct, frozen=True, tag="judgement"):
    """What the judge said of an answer: `score` from 0 to 1, `said` its own words, `unread` how often they were none."""

    key: str
    score: float
    said: tuple[str, ...] = ()
    unread: int = 0
    spent: SpentTokens = SpentTokens()


Entry = MemoryMade | Answered | JudgedAnswer
_LINE = msgspec.json.Decoder(RunPlan | MemoryMade | Answered | JudgedAnswer)


class Journal:
    """What a run has by now. Threads share it; `add` returns when the line is on the disk."""

    def __init__(self, file: Path, entries: list[Entry]) -> None:
        self.folder, self._file, self._lock = file.parent, file, threading.Lock()
        self.memories: dict[str, MemoryMade] = {}
        self.answers: dict[str, Answered] = {}
        self.judgements: dict[str, JudgedAnswer] = {}
        for entry in entries:
            self._keep(entry)

    def add(self, entry: Entry) -> None:
        """Write an entry down. Raises InvalidInputError where the disk does not take it."""
        with self._lock:
            _append(self._file, entry)
            self._keep(entry)

    def _keep(self, entry: Entry) -> None:
        if isinstance(entry, MemoryMade):
            self.memories[entry.talk] = entry
        elif isinstance(entry, Answered):
            self.answers[entry.key] = entry
        else:
            self.judgements[entry.key] = entry


@contextmanager
def journal(folder: Path, plan: RunPlan) -> Iterator[Journal]:
    """The journal of a folder, which nobody else writes meanwhile; a new one where the folder is empty or not there.

    A last line that was cut off is dropped. Raises InvalidInputError for one of another plan, and says what differs; StoreError
    where another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"--out {folder}: {error.strerror}: name a folder that can be written") from error
    with hold(folder):
        file = folder / FILE
        entries = _begun(file, plan)
        yield Journal(file, entries)


def _begun(file: Path, plan: RunPlan) -> list[Entry]:
    before, entries = _read(file)
    if before is None:
        _append(file, plan)
    elif different := list(_differences(before, plan)):
        raise InvalidInputError(
            f"{file} is of another run: {'; '.join(different)}. Go on as it was begun, or name another folder by --out"
        )
    return entries


def _read(file: Path) -> tuple[RunPlan | None, list[Entry]]:
    """The plan and the entries of a file, which is cut to its whole lines."""
    raw = file.read_bytes() if file.exists() else b""
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        os.truncate(file, len(whole))
    lines = [_decoded(file, number, line) for number, line in enumerate(whole.splitlines(), 1)]
    if not lines:
        return None, []
    plan, *entries = lines
    if not isinstance(plan, RunPlan) or any(isinstance(entry, RunPlan) for entry in entries):
        raise InvalidInputError(f"{file} does not begin with its plan: name another folder by --out")
    return plan, [entry for entry in entries if not isinstance(entry, RunPlan)]


def _decoded(file: Path, number: int, line: bytes) -> RunPlan | Entry:
    try:
        found: RunPlan | Entry = _LINE.decode(line)
    except msgspec.DecodeError as error:
        raise InvalidInputError(
            f"{file}, line {number} is no line of a journal ({error}): name another folder by --out"
        ) from error
    return found


def _differences(before: RunPlan, now: RunPlan) -> Iterator[str]:
    for name in RunPlan.__struct_fields__:
        was, is_ = getattr(before, name), getattr(now, name)
        if was != is_:
            yield f"{name} was {_shown(was)} and is {_shown(is_)}"


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _append(file: Path, entry: msgspec.Struct) -> None:
    try:
        with file.open("ab") as out:
            out.write(msgspec.json.encode(entry) + b"\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise InvalidInputError(
            f"{file}: {error.strerror}: nothing more is asked; make room and start it again"
        ) from error
