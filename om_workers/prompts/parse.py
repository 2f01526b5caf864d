"""Reading what the models answered: nothing here raises, whatever a model wrote."""

from collections.abc import Collection, Mapping, Sequence
from textwrap import dedent

import msgspec

from om_api.language.calendar import days
from om_api.patterns.pattern import Pattern
from om_workers.prompts import further, sections
from om_workers.prompts.answer_filter import AnswerFilter, HollowLine
from om_workers.prompts.lines import USUAL, highest_priority, is_item, items, readings, shorten_lines
from om_workers.prompts.nothing import says_nothing
from om_workers.prompts.order import sort_by_time
from om_workers.prompts.repetition import is_degenerate
from om_workers.prompts.threads import is_thread_tag, with_threads, without_threads

_ANCHOR = Pattern(r"\[O\d{1,6}(?:-N\d{1,6})?(?:, ?O\d{1,6}(?:-N\d{1,6})?)*\][ \t]?", behind=r"^|\W")
_EMPTY_LINES = Pattern(r"(?:[ \t]*\n)+")


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """What an Observer noted: `text` in dated lines, escaped; "" with `readable` means nothing was worth noting.

    `readable` is False when the reply held neither a block nor a list item, as a refusal does; `degenerate` when it was
    caught in a loop, and then everything in it is discarded. `priority` is the highest of the lines, 1-5. `no_task` and
    `no_suggestion`: it said that there is none; a section that is missing says nothing, as in a reply that was cut off.
    `extracted` is what it wrote into sections that were wanted beside the notes. `hollow` are lines that are no notes.
    """

    text: str = ""
    current_task: str = ""
    suggested_response: str = ""
    no_task: bool = False
    no_suggestion: bool = False
    priority: int = USUAL
    degenerate: bool = False
    readable: bool = True
    extracted: dict[str, str] = {}
    hollow: tuple[HollowLine, ...] = ()


class Reflected(msgspec.Struct, frozen=True, kw_only=True):
    """What a Reflector condensed: `text` escaped but for its thread sections, and what its `Pattern:` and `Insight:` lines say.

    `degenerate`: the reply was caught in a loop, and everything in it is discarded. `listed`: it holds list items.
    `extracted` is what it wrote into sections that were wanted beside the notes. `hollow` are lines that are no notes.
    """

    text: str = ""
    patterns: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    listed: bool = False
    degenerate: bool = False
    extracted: dict[str, str] = {}
    hollow: tuple[HollowLine, ...] = ()


def parse_observer(text: str, further_sections: Sequence[str] = (), asked: AnswerFilter | None = None) -> Observed:
    """Read an Observer's reply: all its `observations` blocks in one, or its list items where no block is closed.

    Bullets are sorted by time within their dates; thread tags are taken out. `further_sections` are those that were wanted
    beside the notes. Lines that `asked` takes for no notes are left out, in every section. Without `asked`, which the
    built-in observer and hooks do without, nothing is left out and nothing counts as a loop.
    """
    text = shorten_lines(text)
    if asked and is_degenerate(text):
        return Observed(degenerate=True, readable=False)
    extracted, text = further.take(text, further_sections)
    task, text = sections.take(text, "current-task")
    response, text = sections.take(text, "suggested-response")
    blocks = sections.observations(text)
    written = sort_by_time(_trimmed(without_threads(_joined(blocks) if blocks else items(text))))
    noted, hollow = asked.notes(written) if asked else (written, ())
    return Observed(
        text=noted,
        current_task=_noted_in(_text_of(task), asked),
        suggested_response=_noted_in(_text_of(response), asked),
        no_task=task is not None and not _text_of(task),
        no_suggestion=response is not None and not _text_of(response),
        priority=highest_priority(noted),
        readable=blocks is not None or bool(written),
        extracted=_extracted(extracted, asked),
        hollow=hollow,
    )


def _text_of(section: str | None) -> str:
    said = without_threads(section or "")
    return "" if says_nothing(said) else said


def _noted_in(section: str, asked: AnswerFilter | None) -> str:
    return asked.section(section) if asked else section


def _extracted(found: Mapping[str, str], asked: AnswerFilter | None) -> dict[str, str]:
    """What further sections say, without those that say nothing: a value in JSON stays whole."""
    texts = {slug: without_threads(said) for slug, said in found.items()}
    return {slug: text for slug, text in texts.items() if _noted_in(text, asked)}


def parse_batch(
    text: str, threads: Collection[str], further_sections: Sequence[str] = (), asked: AnswerFilter | None = None
) -> dict[str, Observed]:
    """Read an Observer's reply on several threads: what it noted for each, as `parse_observer` would read it alone.

    A thread is missing in the answer if its section is; all are if tags make it doubtful whose notes are whose. Sections
    of unknown threads go. They count wherever they stand: a quoted end of the block must not hide what follows it.
    """
    found = sections.of_threads(shorten_lines(text), threads)
    return {
        name: parse_observer(_as_block(body), further_sections, asked and asked.of_thread(name))
        for name, body in found.items()
    }


def _as_block(body: str) -> str:
    """A section's text as a reply of its own; a model may have put a block into each section."""
    return body if sections.observations(body) is not None else f"<observations>\n{body}\n</observations>"


def parse_reflector(text: str, further_sections: Sequence[str] = (), asked: AnswerFilter | None = None) -> Reflected:
    """Read a Reflector's reply: its `observations` blocks in one, or its list items, or prose if that names a date.

    Prose without a date or a block is no memory but an excuse ("I cannot help with that") and gives "". Well-formed
    thread sections stay; anchors such as [O1] or [O1-N2] are taken out, and lines that `asked` takes for no notes.
    Without `asked` no line is one, and nothing counts as a loop.
    """
    text = shorten_lines(text)
    if asked and is_degenerate(text):
        return Reflected(degenerate=True)
    extracted, text = further.take(text, further_sections)
    for name in ("current-task", "suggested-response"):  # whatever it says there, the Observer says it
        _, text = sections.take(text, name)
    blocks = sections.observations(text)
    written = with_threads(_without_anchors(_joined(blocks) if blocks else _items_or_dated(text)))
    noted, hollow = asked.notes(written) if asked else (written, ())
    kept = with_threads(noted) if hollow else noted
    return Reflected(
        text=_trimmed(kept),
        patterns=readings(kept, "Pattern"),
        insights=readings(kept, "Insight"),
        listed=any(map(is_item, kept.split("\n"))),
        extracted=_extracted(extracted, asked),
        hollow=hollow,
    )


def _joined(blocks: list[str]) -> str:
    """The blocks in one, each without the indentation that all of its lines share."""
    return "\n".join(filter(None, (_trimmed(dedent(block)) for block in blocks)))


def _items_or_dated(text: str) -> str:
    lines = text.split("\n")
    if not any(map(is_item, lines)):
        return text.strip() if days(text) else ""
    return "\n".join(line for line in lines if is_item(line) or is_thread_tag(line))


def _without_anchors(text: str) -> str:
    return "\n".join(_ANCHOR.sub("", line).rstrip() if "[O" in line else line for line in text.split("\n"))


def _trimmed(text: str) -> str:
    """The text without empty lines around it; the first line keeps its indentation."""
    empty = _EMPTY_LINES.match(text)
    return text[empty.end() if empty else 0 :].rstrip()
