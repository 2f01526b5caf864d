"""How rows are shown in the room there is: as a table, as one with fewer columns, or a block for each row.

Words are never broken, so an id can be copied; what is a text folds between them.
"""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_BLOCKS = 60  # below so many columns no table is cut down to fit
_TEXT = 24  # what is longer, and holds a blank, is a text
_WORD = 30  # the longest word of a text that is kept whole
_LETTERS = 12  # the least room of a column whose words may be broken
_EDGES, _GAP = 3, 2  # what stands between columns where there is room, and where there is little


class Fitted(NamedTuple):
    """Rows, a table or text, and the columns that had no room."""

    shown: Table | str
    left_out: tuple[str, ...] = ()


class Rows(NamedTuple):
    """Cells under their columns; those in `least` are left out first where there is little room, in this order.

    What stands in a column of `breaks` is nobody's name: its words may be broken too.
    """

    columns: tuple[str, ...]
    cells: list[tuple[str, ...]]
    title: str | None = None
    least: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Show what fits, for whatever else is made by rich."""
        shown = self.fitted(options.max_width).shown
        yield Text(shown) if isinstance(shown, str) else shown

    def fitted(self, width: int) -> Fitted:
        """What fits into so many columns of a terminal."""
        left = list(range(len(self.columns)))
        if sum(map(self._natural, left)) + _EDGES * len(left) <= width:
            return Fitted(self._table(left))
        if self._least(left) <= width:
            return Fitted(self._table(left, self._widths(left, width)))
        for name in self.least if width >= _BLOCKS else ():
            left.remove(self.columns.index(name))
            if self._least(left) <= width:
                gone = tuple(name for at, name in enumerate(self.columns) if at not in left)
                return Fitted(self._table(left, self._widths(left, width)), gone)
        return Fitted(self._blocks(width))

    def _of(self, column: int) -> list[str]:
        return [line for row in self.cells for line in row[column].split("\n")]

    def _natural(self, column: int) -> int:
        return _longest((self.columns[column], *self._of(column)))

    def _folds(self, column: int) -> bool:
        return self.columns[column] in self.breaks or any(
            " " in cell and cell_len(cell) > _TEXT for cell in self._of(column)
        )

    def _least(self, columns: Sequence[int]) -> int:
        return sum(map(self._narrowest, columns)) + _GAP * len(columns)  # rich counts the edges too

    def _narrowest(self, column: int) -> int:
        head, cells = _longest(self.columns[column].split()), self._of(column)
        if self.columns[column] in self.breaks:
            return max(head, min(_LETTERS, _longest(cells)))
        if not self._folds(column):
            return max(head, _longest(cells))
        return max(head, _TEXT, min(_WORD, _longest(word for cell in cells for word in cell.split())))

    def _widths(self, columns: Sequence[int], width: int) -> dict[int, int]:
        """How wide columns are that just fit: what is left is for those that fold, the last one first."""
        found, room = {at: self._narrowest(at) for at in columns}, width - self._least(columns)
        for at in reversed(columns):
            more = min(room, max(0, self._natural(at) - found[at])) if self._folds(at) else 0
            found[at], room = found[at] + more, room - more
        return found

    def _table(self, columns: Sequence[int], widths: Mapping[int, int] | None = None) -> Table:
        table = Table(title=self.title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        table.show_edge, table.collapse_padding = widths is None, widths is not None
        for at in columns:
            head = "\n".join(self.columns[at].split()) if widths else self.columns[at]
            fixed = widths[at] if widths else None
            table.add_column(Text(head), overflow="fold", no_wrap=not self._folds(at), width=fixed)
        for row in self.cells:
            table.add_row(*(Text(row[at]) for at in columns))
        return table

    def _blocks(self, width: int) -> str:
        blocks = ["\n".join(self._lines(row, width)) for row in self.cells]
        return "\n\n".join([self.title, *blocks] if self.title else blocks)

    def _lines(self, row: Sequence[str], width: int) -> Iterable[str]:
        label = _longest(self.columns)
        for name, cell in zip(self.columns, row, strict=True):
            yield wrapped(f"{name:<{label}}  {cell}", width, label + 2)


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def wrapped(text: str, width: int, indent: int = 4) -> str:
    """One line as several that fit, broken between words only; what is not the first begins further right."""
    if cell_len(text) <= width and "\n" not in text:
        return text
    indent = min(indent, width // 2)
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
