"""How turns of a conversation are shown: the words of a query marked, what stands around them dimmed, folded to the room."""

from collections.abc import Iterator, Sequence

import click
from rich.console import Console
from rich.text import Text

from om_api.cli.output import as_time, print_line, visible, width
from om_api.context.parts import plain
from om_api.recall.marking import excerpt, spans
from om_api.recall.query import Query
from om_api.recall.recalled import Browsed, RecalledHit

_OWN, _BESIDE = 700, 160  # characters of a hit, and of a turn beside it
_LINES = 5  # of a note
_MARK, _DIM = "bold reverse", "dim"
_OPEN, _CLOSE = "«", "»"  # around the words, where no style can be shown
_HERE, _THERE = "  > ", "    "


class Passages:
    """Prints hits of a query, or turns without one."""

    def __init__(self, query: Query | None = None, resource: str = "") -> None:
        self._query, self._resource = query or Query(), resource
        self._console = Console(markup=False, highlight=False, emoji=False, width=width())
        self._styled = self._console.color_system is not None

    def hit(self, hit: RecalledHit) -> None:
        """A hit under what it is and where: its excerpt with the words marked, between the turns around it."""
        others = [hit.resource_id] if self._resource and hit.resource_id not in {"", self._resource} else []
        where = [*others, hit.thread_id or "all threads", hit.role or hit.kind, hit.id]
        print_line("  ".join([as_time(hit.at) or "-", *where]))
        if hit.covered_by:
            self._print(_THERE, Text(f"in the notes as {hit.covered_by}", _DIM))
        if hit.message is None:
            self._note(hit.text)
            return
        if hit.id in hit.retracted:
            self._print(_THERE, Text("retracted from its conversation", _DIM))
        for turn in (*hit.before, hit.message, *hit.after):
            own = turn is hit.message
            text = f"{turn.role}: {excerpt(_line(plain(turn)), self._query, _OWN if own else _BESIDE)}"
            mark = "" if own or turn.id not in hit.retracted else "(retracted) "
            self._print(_HERE if own else _THERE, self._marked(text) if own else Text(visible(mark + text), _DIM))

    def _note(self, text: str) -> None:
        """Of a note the lines that have the words, the first ones."""
        lines = list(filter(None, map(_line, text.split("\n"))))
        having = [line for line in lines if spans(line, self._query)] or lines
        for line in having[:_LINES]:
            self._print(_HERE, self._marked(excerpt(line, self._query, _OWN)))
        if len(having) > _LINES:
            self._print(_THERE, Text(f"and {len(having) - _LINES:,} more lines", _DIM))

    def turns(self, found: Browsed) -> None:
        """The turns of a thread, whole, the one that was asked for pointed at."""
        for turn in (*found.before, *filter(None, [found.message]), *found.after):
            lead = _HERE if turn is found.message else _THERE
            retracted = "  retracted" if turn.id in found.retracted else ""
            print_line(f"{lead.strip() or ' '} {as_time(turn.at) or '-'}  {turn.role}  {turn.id}{retracted}")
            for line in plain(turn).split("\n"):
                self._print(_THERE, Text(visible(line)))

    def _marked(self, text: str) -> Text:
        """A text with the words of the query in another style, or in marks where there is none."""
        marked, end = Text(), 0
        for start, stop in _joined(text, spans(text, self._query)):
            words = visible(text[start:stop])
            marked.append(visible(text[end:start])).append(words if self._styled else f"{_OPEN}{words}{_CLOSE}", _MARK)
            end = stop
        return marked.append(visible(text[end:]))

    def _print(self, lead: str, text: Text) -> None:
        """Lines that all begin as far to the right as the first."""
        room = max(width() - len(lead), 1)
        for n, line in enumerate(text.wrap(self._console, room) or [text]):
            line.rstrip()
            self._console.print(Text(_THERE if n else lead).append_text(line), soft_wrap=True)


def _line(text: str) -> str:
    return " ".join(text.split())


def _joined(text: str, marks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Marks between which only a blank stands are one."""
    last: tuple[int, int] | None = None
    for start, end in marks:
        if last and text[last[1] : start].isspace():
            last = last[0], end
            continue
        if last:
            yield last
        last = start, end
    if last:
        yield last


def print_hits(hits: Sequence[RecalledHit], query: Query, resource: str = "") -> None:
    """Print hits, a blank line between two; those of another memory than the resource's say whose."""
    shown = Passages(query, resource)
    for n, hit in enumerate(hits):
        if n:
            click.echo()
        shown.hit(hit)
