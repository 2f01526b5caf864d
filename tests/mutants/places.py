"""Where a node of a module stands in its source, in characters."""

import ast
from itertools import accumulate

from mutants.mutant import Change, abridged


class Places:
    """The characters of one source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0, *accumulate(len(line) for line in self._lines)]

    def span(self, node: ast.expr) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def text(self, node: ast.expr) -> str:
        start, stop = self.span(node)
        return self.source[start:stop]

    def line(self, node: ast.expr) -> str:
        """The line that a node begins in, as a name."""
        return abridged(self._lines[node.lineno - 1])

    def replace(self, node: ast.expr, text: str, says: str) -> Change:
        return Change(*self.span(node), text, says)

    def between(self, left: ast.expr, right: ast.expr) -> tuple[int, int]:
        """What stands between two nodes, such as the sign that compares them."""
        return self.span(left)[1], self.span(right)[0]

    def _at(self, line: int, column: int) -> int:
        # ast counts bytes
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())
