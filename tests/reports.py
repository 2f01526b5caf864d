"""Where the harnesses write what they saw: a block of docs/reliability.md or another page, between its own two marks."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"


def read_block(name: str, path: Path = PAGE) -> str:
    """What stands between `<!-- name -->` and `<!-- /name -->`; KeyError when the page has no such marks."""
    found = _marks(name).search(path.read_text())
    if not found:
        raise KeyError(f"{path} has no block {name}: add <!-- {name} --> and <!-- /{name} -->")
    return found[2]


def write_block(name: str, text: str, path: Path = PAGE) -> None:
    """Replace what stands there; KeyError when the page has no such marks."""
    read_block(name, path)
    page, marks = path.read_text(), _marks(name)
    path.write_text(marks.sub(lambda found: f"{found[1]}{text.rstrip()}\n{found[3]}", page))


def _marks(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(name)} -->\n)(.*?)(<!-- /{re.escape(name)} -->)", re.DOTALL)


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table of markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
