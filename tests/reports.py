"""Where the harnesses write what they saw: a block of docs/reliability.md or another page, between its own two marks."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"


def write_block(name: str, text: str, path: Path = PAGE) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- /name -->`; KeyError when the page has no such marks."""
    page = path.read_text()
    marks = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)
    if not marks.search(page):
        raise KeyError(f"{path} has no block {name}: add <!-- {name} --> and <!-- /{name} -->")
    path.write_text(marks.sub(lambda found: f"{found[1]}{text.rstrip()}\n{found[2]}", page))
