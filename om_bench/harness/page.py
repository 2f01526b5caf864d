"""The page of figures: each command of `om bench` writes its own block of it, and nothing else."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from om_api.domain.errors import InvalidInputError


def check_block(page: Path, name: str) -> None:
    """Raise InvalidInputError unless the page has the lines `<!-- name -->` and `<!-- /name -->`."""
    if not _block(name).search(page.read_text(encoding="utf-8")):
        raise InvalidInputError(f"{page} has no block for this: add the lines <!-- {name} --> and <!-- /{name} -->")


def write_block(page: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- /name -->`; InvalidInputError without these marks."""
    check_block(page, name)
    before = page.read_text(encoding="utf-8")
    after = _block(name).sub(lambda found: f"{found[1]}{text.rstrip()}\n{found[2]}", before)
    page.write_text(after, encoding="utf-8")


def _block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of a Markdown table, an empty one first."""
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
