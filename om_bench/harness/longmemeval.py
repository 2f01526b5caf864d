"""LongMemEval: each question has a haystack of sessions of one user with an assistant; a turn may be its evidence."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from om_api.domain.messages import Message
from om_bench.harness.talks import Talk, TalkQuestion, turn

_WEEKDAY = re.compile(r"\s*\([A-Za-z]+\)\s*")
_STEP_MS = 30_000  # the format dates sessions, not turns


def talks(document: Sequence[dict[str, Any]]) -> Iterator[Talk]:
    """One talk for each question, which is unproven where it has no evidence or is to be declined (`_abs`)."""
    for entry in document:
        messages, evidence = _history(entry)
        declined = str(entry["question_id"]).endswith("_abs")
        question = TalkQuestion(
            str(entry["question"]),
            str(entry["answer"]),
            tuple(evidence),
            str(entry["question_type"]),
            _ms(entry["question_date"]) if entry.get("question_date") else 0,
            declined=declined,
        )
        proven = bool(evidence) and not declined
        yield Talk(
            str(entry["question_id"]),
            tuple(messages),
            (question,) if proven else (),
            unproven=() if proven else (question,),
        )


def _history(entry: dict[str, Any]) -> tuple[list[Message], list[str]]:
    """The turns, oldest session first, and the ids of those that are evidence."""
    messages: list[Message] = []
    evidence: list[str] = []
    dated = zip(entry["haystack_dates"], entry["haystack_sessions"], strict=True)
    for session, (date, turns) in enumerate(sorted(dated, key=lambda pair: _ms(pair[0]))):
        for place, said in enumerate(turns):
            name, at = f"s{session}-{place}", _ms(date) + place * _STEP_MS
            messages.append(turn(name, said["role"], said["content"], at, f"s{session}"))
            if said.get("has_answer"):
                evidence.append(name)
    return messages, evidence


def _ms(date: str) -> int:
    read = datetime.strptime(_WEEKDAY.sub(" ", date).strip(), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    return int(read.timestamp() * 1000)
