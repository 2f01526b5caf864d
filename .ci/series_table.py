"""The table of all series, which `make docs` puts into docs/monitoring.md."""

import re

from settings_page import table

from om_api.metrics.series import SERIES, Series

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
