"""A process writes its log to stderr: whoever speaks over its standard output is not disturbed."""

import subprocess
import sys

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


def test_what_the_library_says_of_itself_goes_where_the_program_writes_its_own_log():
    configured = "import structlog, sys; structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stdout))"
    done = subprocess.run(
        [sys.executable, "-c", configured + AWAY], capture_output=True, text=True, timeout=60, check=True
    )

    assert "store_unavailable" in done.stdout
    assert "store_unavailable" not in done.stderr
