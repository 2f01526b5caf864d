"""Settings as a reader sees them."""

from __future__ import annotations

import pytest

from om_api.settings.effective import rows


@pytest.mark.parametrize(("stated", "shown"), [("1", "1.0"), ("0.5", "0.5"), ("omit", "omit"), ("null", "null")])
def test_a_models_temperature_is_shown_whatever_it_is(folder, stated, shown):
    """Catches a warning of pydantic's, printed above the table, for a whole number."""
    file = folder.base(f"models: {{m: {{temperature: {stated}}}}}")
    (row,) = (row for row in rows(folder.load()) if row.key == "models.m.temperature")

    assert (row.shown(), row.origin) == (shown, str(file))
