"""Noted: a line of notes as the sentences it was made of, so that they can be chosen from again."""

import re
from collections.abc import Iterator

from om_api.domain.note_lines import split_source
from om_api.domain.notes.marks import mark_of
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.joining import GAP
from om_workers.llm.extractive.notes import HIGH, DatedNote
from om_workers.llm.extractive.terms import terms
from om_workers.llm.extractive.units import Unit, sentences

_WHO = re.compile(r"([^\s:]{1,60}(?: [^\s:]{1,30}){0,2}): (?=\S)")
_MEANING = re.compile(r" \(meaning [^()]*\)")
_TOOL = re.compile(r"[a-z][\w.-]*\Z|tool ")
_ROLES = {"User": "user", "Assistant": "assistant", "System": "system", "Tool": "tool"}


def units_of(note: DatedNote, order: int) -> Iterator[Unit]:
    """The sentences of a note and its details, each heard from whom the line names."""
    if mark_of(note.text):  # what is quoted stays in one piece
        yield _unit(note.text, "tool", note, order=order, heard="", place=0)
    else:
        yield from _own(note, order)


def _own(note: DatedNote, order: int) -> Iterator[Unit]:
    source, said = split_source(note.text)
    who = None if source else _WHO.match(note.text)
    heard = f"From {source}" if source else who[1] if who else ""
    said = said if source else note.text[who.end() if who else 0 :]
    role = _ROLES.get(heard.removesuffix(" asked"), "tool" if _TOOL.match(heard) else "user")
    place = 0
    for run in said.split(f" {GAP} "):
        for text in sentences(run):
            yield _unit(text, role, note, order=order, heard=heard, place=place)
            place += 1
        place += 1  # what was left out
    for detail in note.details:
        yield _unit(detail, role, note, order=order, heard=heard, place=place, nested=True)
        place += 1


def _unit(text: str, role: str, note: DatedNote, *, order: int, heard: str, place: int, nested: bool = False) -> Unit:
    said = _MEANING.sub("", text)
    found = terms(said)
    unit = Unit(order, 0, role, text, found, cues.read(said, found))
    unit.failed = role == "tool" and note.priority == HIGH
    unit.heard, unit.place, unit.nested = heard, place, nested
    return unit
