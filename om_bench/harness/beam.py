"""BEAM: one long conversation of a user with an assistant in `chat.json`, its questions in a folder beside it."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

from om_api.domain.messages import Message
from om_bench.harness.talks import Talk, TalkQuestion, turn

QUESTIONS = "probing_questions/probing_questions.json"
_MARK = re.compile(r"\s*->->\s*[\d,]+\s*$")  # the place in its writer's plan, at the end of some user messages
_START = datetime(2024, 1, 1, tzinfo=UTC)
_STEP = timedelta(seconds=30)
_DECLINED = "abstention"
_ANSWERS = ("answer", "ideal_answer", "ideal_response")


def talk(name: str, document: Sequence[dict[str, Any]], asked: dict[str, list[dict[str, Any]]]) -> Talk:
    """The talk of a chat and its questions by kind; a question without an answer or without source turns is unproven."""
    messages = tuple(_messages(document))
    known = {message.id for message in messages}
    questions = [_question(kind, entry) for kind, entries in asked.items() for entry in entries]
    proven = tuple(each for each in questions if each.answer and each.evidence and known.issuperset(each.evidence))
    return Talk(name, messages, proven, unproven=tuple(each for each in questions if each not in proven))


def _messages(document: Sequence[dict[str, Any]]) -> Iterator[Message]:
    """A batch begins at its time anchor, if it has one and does not go back in time."""
    at = _START
    for batch in document:
        for said in chain.from_iterable(batch["turns"]):
            at = max(at + _STEP, _anchor(said.get("time_anchor")))
            text = _MARK.sub("", said["content"])
            yield turn(f"m-{said['id']}", said["role"], text, int(at.timestamp() * 1000), "chat")


def _anchor(text: str | None) -> datetime:
    try:
        return datetime.strptime(text or "", "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return _START


def _question(kind: str, entry: dict[str, Any]) -> TalkQuestion:
    evidence = tuple(dict.fromkeys(f"m-{number}" for number in _turns(entry.get("source_chat_ids"))))
    answer = next((str(entry[name]) for name in _ANSWERS if entry.get(name)), "")
    rubric = tuple(str(item) for item in entry.get("rubric") or ())
    return TalkQuestion(str(entry["question"]), answer, evidence, kind, rubric=rubric, declined=kind == _DECLINED)


def _turns(found: Any) -> Iterator[int]:
    """Turn ids, in whatever lists and objects they stand."""
    if isinstance(found, int):
        yield found
    elif isinstance(found, dict | list):
        for inner in found.values() if isinstance(found, dict) else found:
            yield from _turns(inner)
