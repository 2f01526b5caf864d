"""What a moved text is made of: pieces that are common to all threads, and pieces of one thread each.

A pool's text is its common lines and a section for each thread; a thread's text has the same lines without the headings.
Each piece says which generation it came from and where it stood there, so that what went to ten threads comes back once.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from om_api.domain.values import ID_PATTERN, Generation, Piece

_OPENING = re.compile(rf'<thread id="({ID_PATTERN.pattern})">')
_CLOSING = "</thread>"
_HEADING = re.compile(r'<(?=/thread>|thread id=")')
_DATE = "Date:"


class Slice(NamedTuple):
    """A piece with its lines, headings left out."""

    piece: Piece
    lines: tuple[str, ...]


class Lead(NamedTuple):
    """A generation in force, and `<epoch>:<n>`, by which its pieces remember it."""

    name: str
    generation: Generation


# -- from one scope to the other ---------------------------------------------------------------------------------------


def of_pool(pool: Lead, threads: Collection[str]) -> list[Slice]:
    """A pool's text in pieces: sections of `threads`, and what stands between them. A section of nobody is common to all."""
    found = cut(pool.generation, pooled=True) or _shared(pool.name, _copies(pool.generation))
    if not found:
        runs = _runs(pool.generation.text.split("\n"), threads)
        return [_slice(pool.name, at, thread, lines) for at, (thread, lines) in enumerate(runs)]
    return [Slice(replace(each.piece, origin=pool.name, at=at), each.lines) for at, each in enumerate(found)]


def of_thread(pieces: Iterable[Slice], thread: str) -> list[Slice]:
    """A thread's share of a pool's text, in the same order; [] where that would be blank."""
    mine = [each for each in pieces if each.piece.thread in {"", thread} and thread not in each.piece.lacking]
    said = any(line.strip() for each in mine for line in each.lines)
    return [Slice(replace(each.piece, lacking=()), each.lines) for each in mine] if said else []


def of_threads(leads: Mapping[str, Lead], threads: Collection[str]) -> list[Slice]:
    """Threads' texts as one pool's: a common piece that still stands unchanged in several of them comes once.

    Pieces of one generation come in their old order. What a thread reflected since is its own, and comes behind them.
    `threads` are all that have a memory, with a text or not: each will have what it had when the pool is taken apart.
    """
    held, own = _of_copies(leads), list[Slice]()
    copied = {thread for holders in held.values() for thread in holders}
    for thread, lead in leads.items():
        marked = cut(lead.generation, pooled=False)
        for each in marked:
            held.setdefault(each, set()).add(thread)
        if not marked and thread not in copied and lead.generation.text.strip():
            own.append(_slice(lead.name, 0, thread, _HEADING.sub("&lt;", lead.generation.text).split("\n")))
    found = sorted(held, key=lambda each: (each.piece.origin, each.piece.at, each.lines))
    return [_but(each, set(threads) - held[each]) for each in found] + own


def _but(each: Slice, lacking: Collection[str]) -> Slice:
    return each if each.piece.thread else Slice(replace(each.piece, lacking=tuple(sorted(lacking))), each.lines)


def text_of(pieces: Iterable[Slice], *, pooled: bool) -> str:
    """The text that pieces make: with headings in a pool, without them in a thread."""
    return "\n".join(line for each in pieces for line in _written(each, pooled=pooled))


def cut(generation: Generation, *, pooled: bool) -> list[Slice]:
    """A moved generation's text in the pieces that it is made of; [] where it is none, or where they do not make its text."""
    lines, found, at = generation.text.split("\n"), list[Slice](), 0
    for piece in generation.pieces:
        at += pooled and piece.thread != ""
        found.append(Slice(piece, tuple(lines[at : at + piece.lines])))
        at += piece.lines + (pooled and piece.thread != "")
    return found if text_of(found, pooled=pooled) == generation.text else []


def without(pieces: Iterable[Slice], thread: str) -> list[Slice]:
    """A pool's pieces without what is of one thread: its own, and its sections in a common one, from when nobody knew it."""
    kept = [(each.piece, _of_others(each, thread)) for each in pieces if each.piece.thread != thread]
    return [
        Slice(replace(piece, lines=len(lines), lacking=tuple(each for each in piece.lacking if each != thread)), tuple(lines))
        for piece, lines in kept
        if lines
    ]


def faults(generation: Generation, *, pooled: bool) -> Iterator[str]:
    """What is wrong with a text that was moved: above all, that something common to several threads is told more than once."""
    if generation.pieces and not cut(generation, pooled=pooled):
        yield "is not made of the pieces that it names"
    places = Counter((each.origin, each.at) for each in generation.pieces)
    for (origin, at), times in places.items():
        if times > 1:
            yield f"holds piece {at} of generation {origin} {times} times"
    copies = _copies(generation) if pooled else {}
    common = next((each.lines for each in _shared("", copies)), ())
    if 2 * len(common) > min(map(len, copies.values()), default=0):
        yield f"tells {len(copies)} times, once for each thread, what is common to them: {next(filter(_says, common))[:80]!r}"


# -- lines -------------------------------------------------------------------------------------------------------------


def _slice(origin: str, at: int, thread: str, lines: Sequence[str]) -> Slice:
    return Slice(Piece(origin=origin, at=at, lines=len(lines), thread=thread), tuple(lines))


def _of_others(each: Slice, thread: str) -> Sequence[str]:
    if each.piece.thread:
        return each.lines
    return [line for name, lines in _runs(each.lines, {thread}) if not name for line in lines]


def _written(each: Slice, *, pooled: bool) -> Sequence[str]:
    if pooled and each.piece.thread:
        return f'<thread id="{each.piece.thread}">', *each.lines, _CLOSING
    return each.lines


def _runs(lines: Sequence[str], threads: Collection[str] | None) -> Iterator[tuple[str, Sequence[str]]]:
    """Runs of lines, each with the thread whose section it is, "" for what is common; None: any thread's section is one."""
    common, at = list[str](), 0
    while at < len(lines):
        name, end = _section(lines, at)
        if name and (threads is None or name in threads):
            if common:
                yield "", common
            yield name, lines[at + 1 : end - 1]
            common = []
        else:
            common += lines[at:end] if name else [_harmless(lines[at])]
        at = end
    if common:
        yield "", common


def _section(lines: Sequence[str], at: int) -> tuple[str, int]:
    """Whose section begins at a line, "" if none does, and the line behind it. A heading inside an open section is none."""
    opening = _OPENING.fullmatch(lines[at])
    if opening is None or _CLOSING not in lines[at:]:
        return "", at + 1
    return opening[1], lines.index(_CLOSING, at) + 1


def _harmless(line: str) -> str:
    """A line that is no heading, though it may look like one: beside other pieces it would open or close a section."""
    return _HEADING.sub("&lt;", line) if line == _CLOSING or _OPENING.fullmatch(line) else line


# -- what was moved by a version that left no marks --------------------------------------------------------------------


def _unmarked(generation: Generation) -> bool:
    moved = generation.origin == "restore" and generation.restores is None
    return moved and bool(generation.text.strip()) and not generation.pieces


def _of_copies(leads: Mapping[str, Lead]) -> dict[Slice, set[str]]:
    """What such a version gave to several threads, each piece with those that hold it."""
    copies = {thread: lead for thread, lead in leads.items() if _unmarked(lead.generation)}
    texts = {thread: lead.generation.text.split("\n") for thread, lead in copies.items()}
    shared = _shared(next((lead.name for lead in copies.values()), ""), texts)
    return {each: {each.piece.thread} if each.piece.thread else set(copies) for each in shared}


def _copies(generation: Generation) -> dict[str, Sequence[str]]:
    """The sections of a pool that such a version put together, if it is made of nothing else."""
    runs = list(_runs(generation.text.split("\n"), None)) if _unmarked(generation) else []
    found = dict(runs)
    return found if len(found) == len(runs) and "" not in found else {}


def _shared(name: str, texts: Mapping[str, Sequence[str]]) -> list[Slice]:
    """What all of several texts begin with, as a common piece, and the rest of each; [] where they share nothing.

    What stood outside of sections was written first. Where no text ends with it nobody knows its end: what may be the
    beginning of equal sections keeps the date that it stands under.
    """
    first = next(iter(texts.values()), ())
    n = sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, zip(*texts.values(), strict=False)))
    known = any(len(lines) == n for lines in texts.values())
    while n and not known and not _says(first[n - 1]):
        n -= 1
    if len(texts) < 2 or not any(map(_says, first[:n])):
        return []
    dates = [] if known else [line for line in first[:n] if line.startswith(_DATE)][-1:]
    rests = {thread: lines[n:] for thread, lines in texts.items() if len(lines) > n}
    dated = {thread: rest if rest[0].startswith(_DATE) else [*dates, *rest] for thread, rest in rests.items()}
    own = [_slice(name, at, thread, rest) for at, (thread, rest) in enumerate(dated.items(), 1)]
    return [_slice(name, 0, "", first[:n]), *own]


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(_DATE)
