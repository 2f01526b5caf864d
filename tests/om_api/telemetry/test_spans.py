"""While nothing is traced a span is nothing, and nothing that traces is imported."""

import subprocess
import sys

from processes import inherited

from om_api.telemetry import spans

_OFF = """
import sys
from om_api import ObservationalMemory, load_settings
settings = load_settings()
ObservationalMemory(settings)
from om_api.http import make_app
import om_workers.tasks.ticks
make_app(settings)
ours = *(f"om_api.telemetry.{name}" for name in ("recording", "exporting", "figures")), "opentelemetry.exporter"
print([name for name in sys.modules if name.startswith(ours)])
"""


def test_without_an_endpoint_nothing_of_opentelemetry_is_imported(tmp_path):
    """By us: FastAPI and redis-py import its API by themselves where it is installed, and nothing that sends."""
    environ = {name: text for name, text in inherited().items() if not name.startswith("OTEL_")}
    found = subprocess.run(
        [sys.executable, "-c", _OFF], cwd=tmp_path, env=environ, capture_output=True, check=True, text=True
    )

    assert found.stdout.split() == ["[]"]


def test_a_span_that_is_none_makes_nothing():
    with spans.span("om.commit", resource="harold") as span:
        span.note(outcome="buffered")

    assert span is spans.NOTHING
    assert (spans.traceparent(), spans.log_ids(None, "", {"event": "x"})) == ("", {"event": "x"})
    assert spans.span("om.push").apart() is spans.current()
