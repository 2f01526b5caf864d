"""Write the pages that are made of the code: `generated_pages.py --write`, or without it say which are stale."""

import sys
from pathlib import Path

import cli_page
import container_variables
import http_page
import series_table
import settings_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def made() -> dict[Path, str]:
    """Every generated page, as the code says it."""
    monitoring = DOCS / "monitoring.md"
    return {
        DOCS / "cli.md": cli_page.render_docs(),
        DOCS / "configuration.md": settings_page.render_docs(),
        DOCS / "http-reference.md": http_page.render_docs(),
        ROOT / "config" / "containers.env": container_variables.render(),
        monitoring: series_table.of_page(monitoring.read_text("utf-8")),
    }


def main() -> None:
    """Write what is stale, or name it and fail."""
    found = {page: text for page, text in made().items() if not page.exists() or page.read_text("utf-8") != text}
    for page, text in found.items():
        if "--write" in sys.argv:
            page.write_text(text, "utf-8")
        sys.stdout.write(f"{page.relative_to(ROOT)} {'written' if '--write' in sys.argv else 'is stale: make docs'}\n")
    sys.exit(bool(found) and "--write" not in sys.argv)


if __name__ == "__main__":
    main()
