"""The pages that commands write say what the code says."""

import sys

from pages import ROOT

sys.path.insert(0, str(ROOT / ".ci"))
import generated_pages

sys.path.pop(0)


def test_a_generated_page_is_what_the_code_says():
    stale = [page.name for page, made in generated_pages.made().items() if page.read_text() != made]

    assert stale == [], "run make docs"
