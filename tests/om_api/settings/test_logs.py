"""A process writes its log to stderr: whoever speaks over its standard output is not disturbed."""

import subprocess
import sys

import pytest
import structlog

from om_api.settings.logs import library_log

AWAY = """
from om_api import Message, ObservationalMemory, load_settings
om = ObservationalMemory(load_settings(environ={"OM_REDIS_URL": "redis://127.0.0.1:1/0"}), fail_open=True)
om.add_message(Message(role="user", content="hello", thread_id="t-1", resource_id="harold"))
print("mine")
"""


def test_what_the_library_says_of_itself_goes_to_stderr():
    """Breaks with structlog's own default: an agent that speaks over its standard output would say it to its peer."""
    done = subprocess.run([sys.executable, "-c", AWAY], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "mine\n"
    assert "store_unavailable" in done.stderr


@pytest.fixture
def programs_own():
    """The log of a program that set structlog up itself."""
    before = structlog.get_config() if structlog.is_configured() else None
    factory = structlog.testing.CapturingLoggerFactory()
    structlog.configure(logger_factory=factory, processors=[structlog.processors.JSONRenderer()])
    yield factory.logger
    structlog.reset_defaults()
    if before:
        structlog.configure(**before)


def test_what_the_library_says_of_itself_goes_where_the_program_writes_its_own_log(programs_own):
    library_log().warning("store_unavailable", unsent=1)

    assert [call.args for call in programs_own.calls] == [('{"unsent": 1, "event": "store_unavailable"}',)]
