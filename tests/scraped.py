"""What Prometheus scrapes of a series, whose histograms have several names."""

from om_api.metrics.series import SERIES, Series


def scraped(series: Series) -> tuple[str, ...]:
    """The names under which a series' values are scraped."""
    if series.kind != "histogram":
        return (series.name,)
    return tuple(f"{series.name}_{part}" for part in ("bucket", "count", "sum"))


def labels_of(name: str) -> frozenset[str] | None:
    """The labels of what is scraped under a name; None when nothing is."""
    for series in SERIES:
        if name in scraped(series):
            return frozenset(series.labels) | ({"le"} if name.endswith("_bucket") else set())
    return None
