"""Print the ten longest functions of the house, for a reviewer to look at."""

from __future__ import annotations

import ast
import sys
from pathlib import Path


def lengths(path: Path) -> list[tuple[int, str]]:
    """Every function of a file with its number of lines."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, functions)]
    return [((node.end_lineno or node.lineno) - node.lineno + 1, f"{path}:{node.lineno} {node.name}") for node in found]


def main() -> None:
    """Print them, the longest first."""
    found = sorted(
        (each for room in ("om_api", "om_workers") for path in Path(room).rglob("*.py") for each in lengths(path)),
        reverse=True,
    )
    sys.stdout.write("the ten longest functions:\n" + "".join(f"{lines:5} {where}\n" for lines, where in found[:10]))


if __name__ == "__main__":
    main()
