"""LoCoMo: sessions of two people, months apart. Both are users here, and a message begins with the name of its person.

An image is told by its caption, in brackets after the text: it is all that a reader of the conversation sees of it, and
answers are found in it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from om_api.domain.messages import Message
from om_bench.harness.talks import Talk, TalkQuestion, turn

_TIME = "%I:%M %p on %d %B, %Y"
_STEP_MS = 30_000  # the format dates sessions, not turns
_DECLINED = 5  # the category whose questions ask for what was never said
_TURN = re.compile(r"D(\d+):(\d+)")


def talks(document: Sequence[dict[str, Any]]) -> Iterator[Talk]:
    """The talks of a document. A question without an answer (most of category 5), or without evidence, is unproven."""
    for place, sample in enumerate(document, 1):
        messages = tuple(_messages(sample["conversation"]))
        known = {message.id for message in messages}
        people = (sample["conversation"]["speaker_a"], sample["conversation"]["speaker_b"])
        asked = [_question(entry, known) for entry in sample["qa"]]
        proven = tuple(question for question in asked if question.answer and question.evidence)
        unproven = tuple(question for question in asked if question not in proven)
        yield Talk(str(sample.get("sample_id", f"talk-{place}")), messages, proven, people, unproven)


def _messages(conversation: dict[str, Any]) -> Iterator[Message]:
    sessions = sorted(int(name[8:]) for name in conversation if re.fullmatch(r"session_\d+", name))
    for session in sessions:
        begun = datetime.strptime(conversation[f"session_{session}_date_time"], _TIME).replace(tzinfo=UTC)
        for place, said in enumerate(conversation[f"session_{session}"]):
            shown = f" [shares {said['blip_caption']}]" if said.get("blip_caption") else ""
            text = f"{said['speaker']}: {said['text']}{shown}"
            at = int(begun.timestamp() * 1000) + place * _STEP_MS
            yield turn(_id(said["dia_id"]), "user", text, at, "talk")


def _question(entry: dict[str, Any], known: set[str]) -> TalkQuestion:
    """Evidence may hold several turns in one string, in a spelling of its own, or turns that are not there."""
    named = [_id(found[0]) for found in _TURN.finditer(" ".join(entry.get("evidence") or ()))]
    evidence = tuple(dict.fromkeys(name for name in named if name in known))
    answer, category = entry.get("answer"), entry.get("category", "?")
    text = "" if answer is None else str(answer)
    return TalkQuestion(str(entry["question"]), text, evidence, f"category {category}", declined=category == _DECLINED)


def _id(name: str) -> str:
    found = _TURN.search(name)
    return f"D{int(found[1])}-{int(found[2])}" if found else name.replace(":", "-")
