"""Samples as Prometheus reads them: every series of the list is there, whether it has a value or not."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from om_api.metrics.exposition import page
from om_api.metrics.series import SERIES, Sample


def test_a_series_without_a_value_says_what_it_would_be():
    families = {family.name: family for family in text_string_to_metric_families(page([]).decode())}

    assert len(families) == len(SERIES)
    assert {family.documentation for family in families.values()} == {series.help for series in SERIES}
    assert [family.samples for family in families.values()] == [[]] * len(SERIES)


def test_samples_come_in_the_order_of_the_list_however_they_are_given():
    names = ["cortex_om_resources", "cortex_om_workers"]
    text = page([Sample(name, (), 1) for name in names]).decode()
    values = [line for line in text.splitlines() if not line.startswith("#")]

    assert values == ["cortex_om_workers 1.0", "cortex_om_resources 1.0"]
