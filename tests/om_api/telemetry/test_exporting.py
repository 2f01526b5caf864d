"""What a collector does not take is said once, whatever the SDK says of every try; no work waits for it."""

import subprocess
import sys
from pathlib import Path

import traced
from processes import inherited
from structlog.testing import capture_logs

from om_api.telemetry.exporting import Once

_PROGRAM = """
from structlog.testing import capture_logs
from traced import Collector
from world import wait_until
from om_api import load_settings
from om_api.telemetry import opening, spans

def one():
    with spans.span("om.push"):
        pass
    flush()
    return collector.spans

with Collector() as collector, capture_logs() as lines:
    collector.says = 400
    opening.begin(load_settings(None, {"OM_TELEMETRY__ENDPOINT": collector.url}), "cortex-om-worker")
    flush = opening._ends[0].__self__.force_flush  # of the processor whose shutdown that is
    for _ in range(3):
        one()
    collector.says = 200
    wait_until(one, "a span")  # of which one may be lost, where a machine is busy
print(*[line["event"] for line in lines])
"""


def test_one_that_refuses_is_said_once_and_again_when_it_takes_them(tmp_path):
    environ = inherited() | {"PYTHONPATH": str(Path(traced.__file__).parent)}
    command = [sys.executable, "-c", _PROGRAM]
    found = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, check=True, text=True)

    assert found.stdout.split() == ["telemetry_not_taken", "telemetry_taken_again"]
    assert found.stderr == ""


def test_an_exporter_that_raises_fails_nothing_and_names_no_password():
    def send():
        raise OSError("http://user:sk-zebrafinch@collector:4318 is away")

    with capture_logs() as lines:
        once = Once("http://user:sk-zebrafinch@collector:4318/v1/traces")
        came = [once.tried(send, bool) for _ in range(3)]

    assert came == [None, None, None]
    assert [(line["endpoint"], line["error"]) for line in lines] == [("collector:4318", "OSError")]
    assert "zebrafinch" not in str(lines)
