"""Sittings: a line that holds all that somebody said in a sitting is weighed sentence by sentence, and joined again."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from om_workers.llm.extractive.joining import LONGEST
from om_workers.llm.extractive.notes import DatedNote

_JOINT = "; "
_NAME = 60  # characters of who says it, at most


def parted(lines: Iterable[DatedNote]) -> Iterator[DatedNote]:
    """The lines; one of a sitting (it has no time of day) becomes one for each sentence, with who says it."""
    for note in lines:
        who, pieces = _read(note)
        if len(pieces) < 2:  # noqa: PLR2004 - one sentence is no more than the line itself
            yield note
        else:
            yield from (msgspec.structs.replace(note, text=f"{who}: {piece}", details=[]) for piece in pieces)


def joined(lines: Iterable[DatedNote]) -> list[DatedNote]:
    """The lines; sentences of one sitting, person and priority that follow each other are one line again."""
    made: list[DatedNote] = []
    for (mark, time, day, _, who), group in groupby(lines, key=_sitting):
        members = list(group)
        if time or not who or not day or not mark:
            made += members
            continue
        made.append(members[0])
        for note in members[1:]:
            said = note.text.removeprefix(f"{who}: ")
            if made[-1].details or note.details or len(made[-1].text) + len(said) > LONGEST:
                made.append(note)
            else:
                made[-1] = msgspec.structs.replace(made[-1], text=f"{made[-1].text.rstrip('.')}{_JOINT}{said}")
    return made


def speaker(note: DatedNote) -> str:
    """Who says a line of a sitting; '' for any other line."""
    return _read(note)[0]


def _sitting(note: DatedNote) -> tuple[str, str, str, str, str]:
    return note.priority, note.time, note.day, note.thread, speaker(note)


def _read(note: DatedNote) -> tuple[str, list[str]]:
    """Who says a line of a sitting, and its sentences; ("", []) for any other line."""
    who, colon, said = note.text.partition(": ")
    if note.time or note.details or not note.day or not colon or len(who) > _NAME:
        return "", []
    return who, said.split(_JOINT)
