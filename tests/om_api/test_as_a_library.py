"""A program that uses the library: it is shown what there is, and nothing of ours comes on its standard output."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys

import pytest

import om_api

AWAY = """
from om_api import Message, ObservationalMemory, load_settings
om = ObservationalMemory(load_settings(environ={"OM_REDIS_URL": "redis://127.0.0.1:1/0"}), fail_open=True)
om.add_message(Message(role="user", content="hello", thread_id="t-1", resource_id="harold"))
print("mine")
"""


def test_help_can_be_had_of_everything():
    assert "ObservationalMemory" in pydoc.render_doc(om_api)


@pytest.mark.parametrize("name", sorted(name for name in om_api.__all__ if inspect.isclass(getattr(om_api, name))))
def test_the_fields_of_every_public_class_can_be_asked_for(name):
    made = getattr(om_api, name)

    assert pydoc.render_doc(made).startswith("Python Library Documentation")


def test_what_the_library_says_of_itself_goes_to_stderr():
    """Breaks with structlog's own default: an agent that speaks over its standard output would say it to its peer."""
    done = subprocess.run([sys.executable, "-c", AWAY], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "mine\n"
    assert "store_unavailable" in done.stderr
