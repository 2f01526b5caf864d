"""The tables of docs/monitoring.md: `python -m om_api.metrics.docs` prints them, `--write` puts them into the page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from om_api.metrics.series import SERIES, Series
from om_api.settings.docs import table

PAGE = Path("docs/monitoring.md")
_BLOCK = re.compile(r"(?<=<!-- series: made by `make docs` -->\n).*?(?=<!-- /series -->)", re.DOTALL)
_HEAD = ("series", "type", "labels", "meaning", "read from")


def render_docs() -> str:
    """Return the table of all series."""
    return table(_HEAD, map(_row, SERIES))


def _row(series: Series) -> tuple[str, ...]:
    labels = ", ".join(f"`{label}`" for label in series.labels)
    return f"`{series.name}`", series.kind, labels or "none", series.help.rstrip("."), series.source


def of_page(text: str) -> str:
    """Return a page with the table where it belongs."""
    return _BLOCK.sub(lambda _: render_docs(), text, count=1)


def main(arguments: list[str]) -> None:
    """Print the table, or write it where it belongs, seen from the project's root."""
    if "--write" in arguments:
        PAGE.write_text(of_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(render_docs())


if __name__ == "__main__":
    main(sys.argv[1:])
