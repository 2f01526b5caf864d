"""Noting: the lines of notes as they may stand, and values without what only those say whom nobody trusts."""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from om_api.domain.note_lines import body, told
from om_api.domain.notes.marks import MARK, Mark, mark_of, marked
from om_api.patterns.pattern import Pattern
from om_workers.prompts.parse import Observed, Reflected
from om_workers.trust.judging import Judge
from om_workers.trust.reading import label_of, sentences, without_label

_BULLET = "* "
_SOMEBODY = "somebody"
_SPEAKERS = ("User", "Agent", "Assistant", "The user", "The agent", "The assistant")
_WORD = Pattern(r"[\w.-]+")
_NAMELESS = Pattern(r"[^\w.-]+")
_LONGEST_NAME = 60


def judged(observed: Observed, judge: Judge) -> Observed:
    """What an Observer noted as it may stand: its notes, the task and the suggestion."""
    if judge.harmless and MARK not in observed.text:
        return observed
    return replace(
        observed,
        text=quoted(observed.text, judge),
        current_task=of_task(observed.current_task, judge),
        suggested_response=of_task(observed.suggested_response, judge),
    )


def requoted(said: Reflected, judge: Judge) -> Reflected:
    """A reflection in which what was quoted is quoted again, and no pattern or insight tells it."""
    if judge.harmless:
        return said
    kept = {
        name: tuple(each for each in getattr(said, name) if not judge.of(each)) for name in ("patterns", "insights")
    }
    return replace(said, text=quoted(said.text, judge), **kept)


def quoted(text: str, judge: Judge) -> str:
    """Notes in which whatever may not stand is marked, and quoted as what somebody said; all else stays as it is."""
    if judge.harmless and MARK not in text:
        return text
    lines, above = list[str](), ""
    for line in text.split("\n"):
        if line[:1] not in {" ", "\t"}:
            above = body(line)
        lines += _line(line, judge, above)
    return "\n".join(lines)


def _line(line: str, judge: Judge, above: str) -> Iterator[str]:
    """What becomes of a line; `above` is what the line says which it stands under, or it itself."""
    said = body(line)
    lead = line[: len(line) - len(said)] or _BULLET
    if MARK in said and (found := _quoted_before(line, said, judge)):
        yield f"{lead}{marked(found)}" if isinstance(found, Mark) else f"{lead}{found}"
        return
    label = label_of(said)
    source = label or label_of(above)
    parts = [(each, judge.of(each, source)) for each in sentences(said[len(label) :])]
    if not any(mark for _, mark in parts):
        whole = judge.of(said, source) if len(parts) > 1 else None
        yield f"{lead}{marked(whole)}" if whole else _named(line, lead, judge, above)
        return
    if stands := " ".join(each for each, mark in parts if not mark):
        yield _named(f"{lead}{label}{stands}", lead, judge, "" if above == said else above)
    marks = [mark for _, mark in parts if mark]
    for _, group in groupby(marks, key=lambda each: (each.kind, each.source)):
        first, *more = group
        yield f"{lead}{marked(first._replace(said=' '.join(each.said for each in (first, *more))))}"


def _named(line: str, lead: str, judge: Judge, above: str) -> str:
    """A line that stands, with the name of the tool that alone says it, unless a name stands there or above."""
    said = told(line)
    if not said or said.startswith(_SPEAKERS) or label_of(said) or label_of(above):
        return line
    tool = judge.tool_of(said)
    return (
        line
        if not tool or tool in _WORD.findall(above)
        else f"{lead}{_NAMELESS.sub('_', tool)[:_LONGEST_NAME]} says: {said}"
    )


def _quoted_before(line: str, said: str, judge: Judge) -> Mark | str | None:
    """What becomes of a line that is marked, or pretends to be: the mark that it had, one anew, or its words without a mark."""
    mark = mark_of(line)
    if mark is None:
        return None if not said.startswith(MARK) else _unmarked(said, judge)
    return (
        judge.known(mark)
        or judge.of(mark.said)
        or (mark.said if judge.wished(mark.said) else mark._replace(source=_SOMEBODY))
    )


def _unmarked(said: str, judge: Judge) -> Mark:
    words = said.lstrip(f"{MARK}\ufe0f ")
    return judge.of(words) or Mark("order", _SOMEBODY, words)


def without_heard(values: Mapping[str, Any], judge: Judge) -> tuple[dict[str, Any], list[str]]:
    """Values by name without the fields and items that only those say whom nobody trusts; and of which names nothing is left."""
    if judge.harmless:
        return dict(values), []
    left = {name: _left(value, judge.only_heard) for name, value in values.items()}
    return {name: value for name, value in left.items() if value is not None}, [
        name for name, value in left.items() if value is None
    ]


def _left(value: Any, gone: Callable[[str], bool], field: str = "") -> Any:
    if isinstance(value, dict):
        kept = {name: _left(each, gone, name) for name, each in value.items()}
        return {
            name: each for name, each in kept.items() if each is not None or (value[name] is None and not gone(name))
        } or None
    if isinstance(value, list):
        return [each for each in (_left(item, gone, field) for item in value) if each is not None] or None
    said = "" if value is None else str(value)
    return None if gone(said) or (field and gone(f"{field} {said}")) else value


def of_task(text: str, judge: Judge) -> str:
    """What a task or a suggestion says, line by line, without what only those say whom nobody trusts."""
    if judge.harmless or not text:
        return text
    return "\n".join(line for line in text.split("\n") if not judge.only_heard(without_label(line.strip())))
