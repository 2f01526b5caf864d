"""The part of a context that prompt caches live on: preamble, reflection, observations and the reminder."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape as attribute
from importlib.resources import files
from itertools import groupby

from om_api.context.composed import Composition, OthersGeneration, OthersNotes, OwnNotes
from om_api.context.signature import Signer
from om_api.context.view import Block, Kind
from om_api.domain.message_tokens import Count
from om_api.domain.notes.activations import by_thread, sections, wrappers
from om_api.domain.tags import escape
from om_api.domain.values import ID_PATTERN, Generation, Observation, Stored


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8").strip()


LOOKUP = _read("lookup.md")
COMPOSED = _read("composed.md")
PREAMBLE = f"{LOOKUP}\n\n{_read('preamble.md')}"
CONTINUATION = f'<system-reminder id="om-continuation">\n{_read("continuation.md")}\n</system-reminder>'
_OPENING = re.compile(rf'<thread id="{ID_PATTERN.pattern}">')
_CLOSING = "</thread>"


def stable_blocks(
    observations: Sequence[Stored],
    generation: Generation | None,
    signer: Signer,
    pooled: bool,  # noqa: FBT001 - compared with the last one, as the others
    kept: str = "",
    composed: Composition | None = None,
    *,
    count: Count,
) -> list[Block]:
    """What stays byte-identical until the memory changes; [] while there is no memory.

    `observations` come in seq order; an activation appends one block before the reminder and touches no other. `pooled`:
    they are of several threads. Where other memories are `composed`, their notes stand among the own ones as they came. `kept` is
    what is kept beside all notes, and stands behind them: it changes at an activation.
    """
    beside = [_block("kept", kept, count(kept))] if kept else []
    if composed is None or not composed.news:
        return _own_blocks(observations, generation, signer, pooled, beside, count)
    others = [_others(each, count, signer) for each in composed.generations]
    own = [_reflection(generation, count, signer)] if generation else []
    noted = [block for each in composed.stable for block in _noted(each, count, signer, pooled=pooled)]
    if not (others or own or noted or observations):
        return beside
    preamble = f"{PREAMBLE}\n\n{COMPOSED}"
    return [_block("preamble", preamble, count(preamble)), *others, *own, *noted, *beside, _continuation(count)]


def _own_blocks(
    observations: Sequence[Stored],
    generation: Generation | None,
    signer: Signer,
    pooled: bool,  # noqa: FBT001 - as above
    beside: list[Block],
    count: Count,
) -> list[Block]:
    if not observations and generation is None:
        return beside
    blocks = [_block("preamble", PREAMBLE, count(PREAMBLE))]
    if generation:
        blocks.append(_reflection(generation, count, signer))
    blocks += (_activation(group, count, signer, pooled=pooled) for group in _activations(observations))
    return [*blocks, *beside, _continuation(count)]


def _continuation(count: Count) -> Block:
    return _block("continuation", CONTINUATION, count(CONTINUATION), role="user")


def _noted(notes: OwnNotes | OthersNotes, count: Count, signer: Signer, *, pooled: bool) -> Iterator[Block]:
    """The block of an activation, of the own memory or of another; none of an own one that found nothing worth noting."""
    if isinstance(notes, OwnNotes):
        group = [each for each in notes.group if each.text.strip()]
        if group:
            yield _activation(group, count, signer, pooled=pooled)
        return
    about, text = from_of(notes.resource), "\n".join(each.text for each in notes.group)
    # not the stored `tokens`, which writers of the other memory can set to any number
    tokens = sum(count(each.text) for each in notes.group) + count(signer.framed("observations", "", about))
    framed = signer.framed("observations", escape(text), about)
    yield Block(kind="observations", role="system", text=framed, stable=True, tokens=tokens, resource_id=notes.resource)


def _others(generation: OthersGeneration, count: Count, signer: Signer) -> Block:
    framed = signer.framed("reflection", escape(generation.text), from_of(generation.resource))
    return Block(
        kind="reflection",
        role="system",
        text=framed,
        stable=True,
        tokens=count(framed),
        resource_id=generation.resource,
    )


def from_of(resource: str) -> str:
    """The attribute that says whose notes a block is made of."""
    return f' from="{attribute(resource)}"'


def _block(kind: Kind, text: str, tokens: int, role: str = "system") -> Block:
    return Block(kind=kind, role=role, text=text, stable=True, tokens=tokens)


def _reflection(generation: Generation, count: Count, signer: Signer) -> Block:
    tokens = (generation.tokens or count(generation.text)) + count(signer.framed("reflection", ""))
    return _block("reflection", signer.framed("reflection", _with_sections(generation.text)), tokens)


def _with_sections(text: str) -> str:
    """Escape a reflected text but for its own thread headings: whole lines, each opened once and closed."""
    if "<" not in text:
        return text
    lines = text.split("\n")
    kept = _headings(lines)
    pieces = groupby(enumerate(lines), key=lambda numbered: numbered[0] in kept)
    runs = (("\n".join(line for _, line in run), heading) for heading, run in pieces)
    return "\n".join(run if heading else escape(run) for run, heading in runs)


def _headings(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that open or close a thread; a heading inside an open section is none."""
    kept: set[int] = set()
    opened: int | None = None
    for number, line in enumerate(lines):
        if opened is None and _OPENING.fullmatch(line):
            opened = number
        elif opened is not None and line == _CLOSING:
            kept |= {opened, number}
            opened = None
    return kept


def _activations(observations: Iterable[Stored]) -> list[list[Observation]]:
    """Observations by activation, without those that found nothing worth noting.

    One whose activation is unknown stands alone, so that a later one cannot join it.
    """
    plain = (stored.observation for stored in observations if stored.observation.text.strip())
    return [list(group) for _, group in groupby(plain, key=lambda found: found.activation or f"={found.id}")]


def _activation(group: Sequence[Observation], count: Count, signer: Signer, *, pooled: bool) -> Block:
    notes = [(observation.thread_id if pooled else "", observation.text) for observation in group]
    texts = by_thread(notes)
    body = "\n".join(
        [section.written(escape) for section in sections(texts)] if pooled else map(escape, texts.values())
    )
    tokens = sum(observation.text_tokens or count(observation.text) for observation in group)
    return _block(
        "observations", signer.framed("observations", body), tokens + sum(wrappers(notes, count, pooled=pooled))
    )
