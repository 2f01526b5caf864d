"""The page of all settings says what the code says."""

from __future__ import annotations

from configured import ROOT

from om_api.settings.catalogue import MODEL_FIELDS, SETTINGS, dotted, variable
from om_api.settings.docs import render_docs


def test_the_documentation_is_what_the_code_says():
    assert (ROOT / "docs" / "configuration.md").read_text() == render_docs(), (
        "run python -m om_api.settings.docs --write"
    )


def test_every_setting_is_documented_with_its_variable():
    page = render_docs()

    assert [
        path for path in SETTINGS if f"| `{dotted(path)}` |" not in page or f"`{variable(path)}` |" not in page
    ] == []
    assert [field for field in MODEL_FIELDS if f"`OM_MODELS__<NAME>__{field.upper()}`" not in page] == []
