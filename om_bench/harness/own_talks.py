"""Talks of our own writing: sessions of turns, and the questions that somebody asks weeks later."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.values import to_ms
from om_bench.harness.talks import Talk, TalkQuestion, turn

_MINUTE_MS = 60_000


class OwnTurn(msgspec.Struct, forbid_unknown_fields=True):
    """What one says: `text`, or `parts` with calls and results of tools, so many `minutes` after the turn before."""

    id: str
    role: str
    text: str = ""
    who: str = ""
    parts: list[dict[str, Any]] = []
    minutes: float = 1


class OwnSession(msgspec.Struct, forbid_unknown_fields=True):
    """Turns of one sitting, the first of them at a time in ISO 8601."""

    at: str
    turns: list[OwnTurn]


class OwnQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """A question, its answer, and the ids of the turns that hold it."""

    q: str
    a: str
    evidence: list[str]
    kind: str


class OwnTalk(msgspec.Struct, forbid_unknown_fields=True):
    """A file as it is written. `people` are the names that are in every line."""

    name: str
    kind: str
    people: list[str]
    sessions: list[OwnSession]
    questions: list[OwnQuestion]


def talk(path: Path, document: Any) -> Talk:
    """The talk of a file; raises InvalidInputError that names the file, and the place in it that is wrong."""
    try:
        written = msgspec.convert(document, OwnTalk)
        messages = tuple(message for session in written.sessions for message in _messages(session))
        _check(written.questions, messages)
    except (msgspec.ValidationError, InvalidInputError) as error:
        raise InvalidInputError(f"{path}: {error}") from error
    questions = tuple(TalkQuestion(it.q, it.a, tuple(dict.fromkeys(it.evidence)), it.kind) for it in written.questions)
    return Talk(written.name, messages, questions, tuple(written.people))


def _messages(session: OwnSession) -> Iterator[Message]:
    at = to_ms(session.at)
    if at is None:
        raise InvalidInputError(f"session at {session.at!r}: `at` is no time: give ISO 8601")
    for place, said in enumerate(session.turns):
        if bool(said.text) == bool(said.parts):
            raise InvalidInputError(f"turn {said.id}: give it either `text` or `parts`")
        at += int(said.minutes * _MINUTE_MS) if place else 0
        yield turn(said.id, said.role, said.parts or _named(said), at, "talk")


def _named(said: OwnTurn) -> str:
    return f"{said.who}: {said.text}" if said.who else said.text


def _check(questions: Sequence[OwnQuestion], messages: Sequence[Message]) -> None:
    ids = Counter(message.id for message in messages)
    if twice := [name for name, times in ids.items() if times > 1]:
        raise InvalidInputError(f"turn {twice[0]} is there twice: an id is one turn's")
    for question in questions:
        if not (question.q and question.a and question.evidence):
            raise InvalidInputError(f"question {question.q!r}: give it an answer and evidence")
        if lost := [name for name in question.evidence if name not in ids]:
            raise InvalidInputError(f"question {question.q!r}: its evidence {lost[0]} is no turn of the talk")
