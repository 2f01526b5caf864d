"""What a moved text is made of: pieces that are common to all threads, and pieces of one thread each.

A pool's text is its common lines and a section for each thread; a thread's text has the same lines without the headings.
Each piece says which generation it came from and where it stood there, so that what went to ten threads comes back once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from om_api.domain.thread_sections import harmless, runs, section
from om_api.domain.unmarked_copies import copies, is_unmarked, shared, told_often
from om_api.domain.values import Generation, TextPiece


class Slice(NamedTuple):
    """A piece with its lines, headings left out."""

    piece: TextPiece
    lines: tuple[str, ...]


class Lead(NamedTuple):
    """A generation in force, and `<epoch>:<n>`, by which its pieces remember it."""

    name: str
    generation: Generation


# -- from one scope to the other ---------------------------------------------------------------------------------------


def of_pool(pool: Lead, threads: Collection[str]) -> list[Slice]:
    """A pool's text in pieces: sections of `threads`, and what stands between them. A section of nobody is common to all."""
    found = cut(pool.generation, pooled=True) or _of_texts(pool.name, copies(pool.generation))
    if not found:
        found = [_slice("", 0, *run) for run in runs(pool.generation.text.split("\n"), threads)]
    return [Slice(replace(each.piece, origin=pool.name, at=at), each.lines) for at, each in enumerate(found)]


def of_thread(pieces: Iterable[Slice], thread: str) -> list[Slice]:
    """A thread's share of a pool's text, in the same order; [] where that would be blank."""
    mine = [each for each in pieces if each.piece.thread in {"", thread} and thread not in each.piece.lacking]
    said = any(line.strip() for each in mine for line in each.lines)
    return [Slice(replace(each.piece, lacking=()), each.lines) for each in mine] if said else []


def of_threads(leads: Mapping[str, Lead], threads: Collection[str]) -> list[Slice]:
    """Threads' texts as one pool's: a common piece that still stands unchanged in several of them comes once.

    Pieces of one generation come in their old order. What a thread reflected since is its own, and comes behind them.
    `threads` are all that there are, with a text or not: each will have what it had when the pool is taken apart.
    """
    held, own = _held_by_copies(leads), list[Slice]()
    copied = {thread for holders in held.values() for thread in holders}
    for thread, lead in leads.items():
        marked = cut(lead.generation, pooled=False)
        for each in marked:
            held.setdefault(each, set()).add(thread)
        if not marked and thread not in copied and lead.generation.text.strip():
            own.append(_slice(lead.name, 0, thread, harmless(lead.generation.text).split("\n")))
    found = sorted(held, key=lambda each: (each.piece.origin, each.piece.at, each.lines))
    return [_but(each, set(threads) - held[each]) for each in found] + own


def without(pieces: Iterable[Slice], thread: str) -> list[Slice]:
    """A pool's pieces without what is of one thread: its own, and its sections in a common one, from when nobody knew it."""
    left = []
    for piece, lines in pieces:
        if piece.thread != thread and (kept := lines if piece.thread else _of_others(lines, thread)):
            lacking = tuple(name for name in piece.lacking if name != thread)
            left.append(Slice(replace(piece, lines=len(kept), lacking=lacking), kept))
    return left


# -- texts and their pieces --------------------------------------------------------------------------------------------


def text_of(pieces: Iterable[Slice], *, pooled: bool) -> str:
    """The text that pieces make: with headings in a pool, without them in a thread."""
    return "\n".join(line for each in pieces for line in _written(each, pooled=pooled))


def cut(generation: Generation, *, pooled: bool) -> list[Slice]:
    """A moved generation's text in the pieces that it is made of; [] where it is none, or where they do not make its text."""
    lines, found, at = generation.text.split("\n"), list[Slice](), 0
    for piece in generation.pieces:
        heading = pooled and piece.thread != ""
        at += heading
        found.append(Slice(piece, tuple(lines[at : at + piece.lines])))
        at += piece.lines + heading
    return found if text_of(found, pooled=pooled) == generation.text else []


def faults(generation: Generation, *, pooled: bool) -> Iterator[str]:
    """What is wrong with a text that was moved: above all, that something common to several threads is told more than once."""
    if generation.pieces and not cut(generation, pooled=pooled):
        yield "is not made of the pieces that it names"
    for (origin, at), times in Counter((each.origin, each.at) for each in generation.pieces).items():
        if times > 1:
            yield f"holds piece {at} of generation {origin} {times} times"
    if pooled and (line := told_often(generation)):
        yield f"tells {len(copies(generation))} times, once for each thread, what is common to them: {line[:80]!r}"


def _slice(origin: str, at: int, thread: str, lines: Sequence[str]) -> Slice:
    return Slice(TextPiece(origin=origin, at=at, lines=len(lines), thread=thread), tuple(lines))


def _but(each: Slice, lacking: Collection[str]) -> Slice:
    return each if each.piece.thread else Slice(replace(each.piece, lacking=tuple(sorted(lacking))), each.lines)


def _of_others(lines: Sequence[str], thread: str) -> tuple[str, ...]:
    return tuple(line for name, run in runs(lines, {thread}) if not name for line in run)


def _written(each: Slice, *, pooled: bool) -> Sequence[str]:
    return section(each.piece.thread, each.lines) if pooled and each.piece.thread else each.lines


# -- what was moved without marks --------------------------------------------------------------------------------------


def _held_by_copies(leads: Mapping[str, Lead]) -> dict[Slice, set[str]]:
    """What several threads were given copies of, each piece with those that hold it."""
    unmarked = {thread: lead for thread, lead in leads.items() if is_unmarked(lead.generation)}
    texts = {thread: harmless(lead.generation.text).split("\n") for thread, lead in unmarked.items()}
    found = _of_texts(next((lead.name for lead in unmarked.values()), ""), texts)
    return {each: {each.piece.thread} if each.piece.thread else set(unmarked) for each in found}


def _of_texts(name: str, texts: Mapping[str, Sequence[str]]) -> list[Slice]:
    found = shared(texts)
    if found is None:
        return []
    rests = enumerate(found.rests.items(), 1)
    return [_slice(name, 0, "", found.common), *(_slice(name, at, thread, rest) for at, (thread, rest) in rests)]
