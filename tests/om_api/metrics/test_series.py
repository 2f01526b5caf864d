"""The closed list of series: what is exposed is in it, with its labels, in a text that Prometheus reads."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scraped import labels_of, scraped

from om_api.domain.values import ID_PATTERN
from om_api.metrics.scraper import MEDIA_TYPE, page
from om_api.metrics.series import EVERYBODY, OTHER, SERIES, Histogram, Sample


def parsed(text):
    return {family.name: family for family in text_string_to_metric_families(text.decode())}


def test_names_are_ours_and_each_is_there_once():
    names = [name for series in SERIES for name in scraped(series)]

    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"cortex_om_[a-z_]+[a-z]", series.name) for series in SERIES)
    assert all(series.name.endswith("_total") for series in SERIES if series.kind == "counter")
    assert all(re.fullmatch(r"[A-Z0-9].+\.", series.help) for series in SERIES)


def test_no_resource_can_be_called_like_the_labels_of_several():
    assert not any(re.fullmatch(ID_PATTERN.pattern, name) for name in (OTHER, EVERYBODY))


@pytest.mark.parametrize("series", SERIES, ids=[series.name for series in SERIES])
def test_a_sample_of_every_series_is_read_back_with_its_labels_and_type(series):
    labels = tuple(f"a {label}\n\"'\\" for label in series.labels)
    value = Histogram((("1.0", 1), ("+Inf", 2)), 3.5) if series.kind == "histogram" else 7
    family = parsed(page([Sample(series.name, labels, value)]))[
        series.name.removesuffix("_total" * (series.kind == "counter"))
    ]

    assert (family.type, family.documentation) == (series.kind, series.help)
    assert {sample.name for sample in family.samples} == set(scraped(series))
    for sample in family.samples:
        assert set(sample.labels) == labels_of(sample.name)
        assert tuple(sample.labels[label] for label in series.labels) == labels


def test_a_histogram_says_how_often_and_how_long_in_all():
    family = parsed(
        page([Sample("cortex_om_observer_duration_seconds", ("harold",), Histogram((("1.0", 1), ("+Inf", 2)), 3.5))])
    )
    samples = {sample.name: sample.value for sample in family["cortex_om_observer_duration_seconds"].samples}

    assert samples["cortex_om_observer_duration_seconds_count"] == 2
    assert samples["cortex_om_observer_duration_seconds_sum"] == 3.5


def test_what_is_not_in_the_list_has_no_labels():
    assert labels_of("cortex_om_observer_duration_seconds") is None
    assert labels_of("up") is None


def test_the_format_is_the_one_that_every_prometheus_reads():
    assert MEDIA_TYPE.startswith("text/plain; version=0.0.4")
